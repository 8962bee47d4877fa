/// A pure rule that limits the bytes of answers that clients do not read. Above the limit, the connections that have
/// waited longest are closed.
struct UnreadAnswers<Name: Hashable> {
    private let most: Int
    private(set) var bytes = 0
    private var waiting: [Name: (bytes: Int, number: Int)] = [:]
    private var numbers = 0

    /// - Parameter most: the most bytes of all connections.
    init(most: Int) { self.most = most }

    /// Sets the bytes that a connection holds for its client; 0: the client reads, or the connection is closed.
    ///
    /// - Returns: the connections to close.
    mutating func hold(_ count: Int, for name: Name) -> [Name] {
        release(name)
        guard count > 0 else { return [] }
        numbers += 1
        waiting[name] = (count, numbers)
        bytes += count
        var leaving: [Name] = []
        while bytes > most, let oldest = waiting.min(by: { $0.value.number < $1.value.number })?.key {
            release(oldest)
            leaving.append(oldest)
        }
        return leaving
    }

    private mutating func release(_ name: Name) { bytes -= waiting.removeValue(forKey: name)?.bytes ?? 0 }
}
