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
    /// The strangers, each with its place in the line of arrivals, of which `first` is not after the oldest.
    private var strangers: [Name: Int] = [:]
    private var line: [Int: Name] = [:]
    private var (first, next) = (0, 0)

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
        (strangers[name], line[next]) = (next, name)
        next += 1
        // Keep one place free. Otherwise the next connection would not even be accepted.
        guard strangers.count > max(1, min(share, maximum - 1 - known.count)) else { return nil }
        while line[first] == nil { first += 1 }
        let oldest = line[first]
        if let oldest { leave(oldest) }
        return oldest
    }

    /// Marks the connection as known, because a request on it had a key that does not ship in client apps.
    mutating func know(_ name: Name) { if leave(name) { known.insert(name) } }

    mutating func close(_ name: Name) {
        leave(name)
        known.remove(name)
    }

    /// - Returns: whether the connection was a stranger's.
    @discardableResult
    private mutating func leave(_ name: Name) -> Bool {
        guard let place = strangers.removeValue(forKey: name) else { return false }
        line[place] = nil
        return true
    }
}
