/// A pure rule that chooses the connection to close when there are too many.
///
/// A connection belongs to a stranger until one of its requests had a key that does not ship in client apps. Strangers,
/// including phones, may have a share of all connections. If a new stranger exceeds this share, the connection of the
/// oldest stranger is closed, so that a new client can always send its key. Known connections are never closed.
struct ConnectionPlaces<Name: Hashable> {
    private let maximum: Int
    /// The most connections that strangers may have. If known clients have so many connections that fewer places are
    /// left, strangers may have only the places that are left.
    let share: Int
    private(set) var known: Set<Name> = []
    private var strangers: [Name: Int] = [:]
    /// All strangers, the earliest first. It may also contain connections that have closed or become known.
    private var line: [(name: Name, number: Int)] = []
    /// The index of the first element of `line` that may still be a stranger.
    private var first = 0
    private var numbers = 0

    /// - Parameter maximum: the most connections, at least 2. A tenth of them, at least one, is for known clients.
    init(maximum: Int) {
        self.maximum = maximum
        share = max(1, maximum - max(1, maximum / 10))
    }

    var strangerCount: Int { strangers.count }

    /// Adds a new connection.
    ///
    /// - Returns: the connection to close so that the new one has a place; `nil`: none.
    mutating func open(_ name: Name) -> Name? {
        numbers += 1
        strangers[name] = numbers
        line.append((name, numbers))
        defer { tidy() }
        // Keep one place free. Otherwise the next connection would not even be accepted.
        let room = max(1, min(share, maximum - 1 - known.count))
        return strangers.count > room ? oldest() : nil
    }

    /// Marks the connection as known, because a request on it had a key that does not ship in client apps.
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

    /// Keeps `line` about as long as the number of strangers.
    private mutating func tidy() {
        guard line.count > 64, line.count > 2 * (strangers.count + 1) else { return }
        line = line[first...].filter { strangers[$0.name] == $0.number }
        first = 0
    }
}
