internal import NIOCore

/// The newest requests.
struct Journal: Sendable {
    /// The journal keeps at most about this many bytes, whatever the number of entries.
    static let byteCapacity = 32 << 20

    private let capacity: Int
    private var kept = CircularBuffer<JournalEntry>()
    private var bytes = 0
    /// The number of the newest entry. It keeps growing when the journal is cleared.
    private(set) var recorded = 0

    /// - Parameter capacity: the most entries; 0 keeps none.
    init(capacity: Int) { self.capacity = capacity }

    var entries: [JournalEntry] { Array(kept) }

    /// The entries with a higher number, the oldest first.
    func entries(after number: Int) -> ArraySlice<JournalEntry> {
        Array(kept.suffix(recorded - number)).drop { $0.number <= number }
    }

    mutating func removeAll() {
        kept.removeAll()
        bytes = 0
    }

    /// Adds an entry with the next number.
    mutating func record(_ entry: JournalEntry) {
        recorded += 1
        var entry = entry
        entry.number = recorded
        bytes += entry.size
        kept.append(entry)
        while bytes > Self.byteCapacity || kept.count > capacity, let gone = kept.popFirst() { bytes -= gone.size }
    }
}
