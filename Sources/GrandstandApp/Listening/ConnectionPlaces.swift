/// Which connection is closed when there are too many: a pure rule.
///
/// A connection is a stranger's until a request on it had a key that holds more than `lookup`. Strangers' connections,
/// phones' among them, may be a share of all; beyond it the oldest of them is closed for the newest, so that a new
/// client can always show its key. Known connections stay.
struct ConnectionPlaces<Name: Hashable> {
    private let maximum: Int
    /// Places for unknown clients, fewer where known ones have more than a tenth.
    let share: Int
    private(set) var known: Set<Name> = []
    private var strangers: [Name: Int] = [:]
    /// In the order they came, with those that have left or are known by now among them.
    private var line: [(name: Name, number: Int)] = []
    /// The first of the line that may still be there.
    private var first = 0
    private var numbers = 0

    /// - Parameter maximum: connections at a time, 2 at least. A tenth is kept for known clients, one at least.
    init(maximum: Int) {
        self.maximum = maximum
        share = max(1, maximum - max(1, maximum / 10))
    }

    var strangerCount: Int { strangers.count }

    /// A connection was made.
    ///
    /// - Returns: the one that has to leave for it.
    mutating func open(_ name: Name) -> Name? {
        numbers += 1
        strangers[name] = numbers
        line.append((name, numbers))
        defer { tidy() }
        // One place stays free, or the next would not even be accepted.
        let room = max(1, min(share, maximum - 1 - known.count))
        return strangers.count > room ? oldest() : nil
    }

    /// A key was seen on it that is in few hands.
    mutating func know(_ name: Name) { if strangers.removeValue(forKey: name) != nil { known.insert(name) } }

    mutating func close(_ name: Name) {
        strangers[name] = nil
        known.remove(name)
    }

    private mutating func oldest() -> Name? {
        while first < line.count {
            let (name, number) = line[first]
            first += 1
            if strangers[name] == number {
                strangers[name] = nil
                return name
            }
        }
        return nil
    }

    /// Keeps the line about as long as there are strangers.
    private mutating func tidy() {
        guard line.count > 64, line.count > 2 * (strangers.count + 1) else { return }
        line = line[first...].filter { strangers[$0.name] == $0.number }
        first = 0
    }
}
