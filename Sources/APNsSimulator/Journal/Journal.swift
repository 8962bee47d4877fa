/// The newest requests, and the callers that wait for more.
struct Journal: Sendable {
    /// A caller that waits until `count` entries that match have been seen.
    struct Waiter: Sendable {
        var id: Int
        var count: Int
        var matches: @Sendable (JournalEntry) -> Bool
        var found: [JournalEntry]
        /// Yields the entries when there are enough. Finishes without a value when the simulator stops.
        var continuation: AsyncStream<[JournalEntry]>.Continuation
    }

    /// The journal keeps at most about this many bytes, whatever the number of entries.
    static let byteCapacity = 32 << 20

    private var ring: Ring<JournalRecord>
    private var bytes = 0
    private var waiters: [Waiter] = []
    private var recorded = 0
    private var lastWaiter = 0
    private var isClosed = false

    /// - Parameter capacity: the most entries; 0 keeps none, but callers that wait are still served.
    init(capacity: Int) { ring = Ring(capacity: capacity) }

    var entries: [JournalEntry] { ring.elements.map(\.entry) }

    mutating func removeAll() {
        ring.removeAll()
        bytes = 0
    }

    /// Adds an entry with the next number.
    ///
    /// - Returns: the waiters that now have enough entries. Resume them after the lock is released.
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
    /// - Returns: the entries if there are already enough. Then the caller does not wait.
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

    /// Ends all waits, because no more requests will come. Later waits end at once.
    mutating func close() -> [Waiter] {
        isClosed = true
        defer { waiters = [] }
        return waiters
    }
}
