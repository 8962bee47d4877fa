/// The newest requests, and the callers that wait for more.
struct Journal: Sendable {
    /// A caller that waits until `count` entries that match have been seen.
    struct Waiter: Sendable {
        var id: Int
        var count: Int
        var matches: @Sendable (JournalEntry) -> Bool
        var found: [JournalEntry]
        /// Yields the entries, once they suffice; finishes without, when no more will come.
        var continuation: AsyncStream<[JournalEntry]>.Continuation
    }

    /// About so many bytes of entries are kept, however many entries that is.
    static let byteCapacity = 32 << 20

    private var ring: Ring<JournalRecord>
    private var bytes = 0
    private var waiters: [Waiter] = []
    private var recorded = 0
    private var lastWaiter = 0
    private var isClosed = false

    /// - Parameter capacity: entries kept; 0 keeps none (callers that wait are served all the same).
    init(capacity: Int) { ring = Ring(capacity: capacity) }

    var entries: [JournalEntry] { ring.elements.map(\.entry) }

    mutating func removeAll() {
        ring.removeAll()
        bytes = 0
    }

    /// Adds an entry, numbering it.
    ///
    /// - Returns: the waiters it completed, to be resumed with their entries once no lock is held.
    mutating func record(_ entry: JournalEntry) -> [Waiter] {
        recorded += 1
        var entry = entry
        entry.number = recorded
        let record = JournalRecord(entry)
        bytes += record.size
        if let gone = ring.append(record) { bytes -= gone.size }
        while bytes > Self.byteCapacity, let gone = ring.removeOldest() { bytes -= gone.size }
        guard !waiters.isEmpty else { return [] }
        for index in waiters.indices where waiters[index].matches(entry) { waiters[index].found.append(entry) }
        let complete = waiters.filter { $0.found.count >= $0.count }
        waiters.removeAll { $0.found.count >= $0.count }
        return complete
    }

    mutating func reserveWaiterID() -> Int {
        lastWaiter += 1
        return lastWaiter
    }

    /// Begins a wait.
    ///
    /// - Returns: the entries, when those that are kept suffice: the caller does not wait then.
    mutating func wait(_ waiter: Waiter) -> [JournalEntry]? {
        var waiter = waiter
        waiter.found = entries.filter(waiter.matches)
        if waiter.found.count >= waiter.count { return waiter.found }
        if isClosed { waiter.continuation.finish() } else { waiters.append(waiter) }
        return nil
    }

    mutating func stopWaiting(_ id: Int) {
        waiters.removeAll { $0.id == id }
    }

    /// No more requests will come: the waits to end, and those begun later end at once.
    mutating func close() -> [Waiter] {
        isClosed = true
        defer { waiters = [] }
        return waiters
    }
}
