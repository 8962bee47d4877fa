/// A pure rule that chooses the connections to close when there are too many, or too many unread answers.
///
/// A connection belongs to a stranger until one of its requests had a key that does not ship in client apps. Strangers,
/// including phones, may have a share of all connections. If a new stranger exceeds this share, the connection of the
/// oldest stranger is closed, so that a new client can always send its key. Known connections are closed only if clients
/// together do not read more than `mostUnread` bytes of answers: then the connection with the most of them is closed.
package struct ConnectionPlaces<Name: Hashable, Peer> {
    private struct Place {
        let peer: Peer
        let arrival: Int
        /// The bytes that wait for the client.
        var unreadBytes = 0
    }

    private let maximum, mostUnread: Int
    /// The most connections that strangers may have. If known clients have so many connections that fewer places are
    /// left, strangers may have only the places that are left.
    private let strangerCap: Int
    private var places: [Name: Place] = [:]
    /// The strangers by arrival. No arrival before `first` is a stranger's.
    private var strangers: [Int: Name] = [:]
    private var (first, next) = (0, 0)
    private(set) var unreadBytes = 0

    /// - Parameters:
    ///   - maximum: the most connections, at least 2. A tenth of them, at least one, is for known clients.
    ///   - mostUnread: the most unread bytes of all connections.
    package init(maximum: Int, mostUnread: Int = 128 << 20) {
        (self.maximum, self.mostUnread) = (maximum, mostUnread)
        strangerCap = max(1, maximum - max(1, maximum / 10))
    }

    var strangerCount: Int { strangers.count }
    var knownCount: Int { places.count - strangers.count }

    /// Adds a new connection.
    ///
    /// - Returns: the connection to close so that the new one has a place; `nil`: none.
    package mutating func open(_ name: Name, _ peer: Peer) -> Peer? {
        (places[name], strangers[next]) = (Place(peer: peer, arrival: next), name)
        next += 1
        // Keep one place free. Otherwise the next connection would not even be accepted.
        guard strangers.count > max(1, min(strangerCap, maximum - 1 - knownCount)) else { return nil }
        while strangers[first] == nil { first += 1 }
        return strangers[first].flatMap { close($0) }
    }

    /// Marks the connection as known, because a request on it had a key that does not ship in client apps.
    package mutating func trust(_ name: Name) { strangers[places[name]?.arrival ?? -1] = nil }

    /// - Returns: the connection; `nil`: it was closed before.
    @discardableResult
    package mutating func close(_ name: Name) -> Peer? {
        guard let place = places.removeValue(forKey: name) else { return nil }
        strangers[place.arrival] = nil
        unreadBytes -= place.unreadBytes
        return place.peer
    }

    /// Sets the bytes that a connection holds for its client; 0: the client reads.
    ///
    /// - Returns: the connections to close.
    package mutating func setUnread(_ bytes: Int, for name: Name) -> [Peer] {
        guard let place = places[name] else { return [] }
        unreadBytes += bytes - place.unreadBytes
        places[name]?.unreadBytes = bytes
        var leaving: [Peer] = []
        while unreadBytes > mostUnread, let most = places.max(by: { $0.value.unreadBytes < $1.value.unreadBytes })?.key
        {
            if let peer = close(most) { leaving.append(peer) }
        }
        return leaving
    }
}
