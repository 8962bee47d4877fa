/// The decisions of a pool, without sockets: which connections are idle or lent, and which callers wait.
struct PoolState {
    /// What a waiter gets: a connection, or the right to open one.
    enum Turn: Sendable {
        case connection(PostgresConnection)
        /// - Parameter after: the error of the waiter's own attempt to open a connection; `nil`: the waiter made no
        ///   attempt.
        case open(after: PostgresError? = nil)
    }

    enum Next {
        case idle(PostgresConnection)
        case open
        case wait(Int)
        case closed
    }

    typealias Waiter = CheckedContinuation<Result<Turn, PostgresError>, Never>

    private enum Place {
        /// The caller has a number, but does not wait yet.
        case announced
        case waiting(Waiter)
        /// The caller's turn came before its wait began.
        case served(Turn)
        /// The caller gave up its place before its wait began.
        case left(PostgresError)
    }

    private var idle: [PostgresConnection] = []
    var idleCount: Int { idle.count }
    /// The connections that are lent or being opened.
    private(set) var lent = 0
    /// How many of `lent` are attempts to open a connection, including those for which no caller waits any longer.
    private(set) var attempts = 0
    /// The callers that pause between two attempts.
    private var pausing = 0
    private(set) var isClosed = false
    /// Grows each time the pool leaves its server because the server no longer accepts writes. Connections of earlier
    /// generations are not lent again.
    private(set) var generation = 0
    private var places: [Int: Place] = [:]
    /// The numbers of waiting callers, in the order of their calls.
    private var line: [Int] = []
    private var numbers = 0

    /// The most recently used idle connection, or the right to open one, or a place in the queue.
    mutating func next(maximum: Int) -> Next {
        if isClosed { return .closed }
        if let connection = idle.popLast() {
            lent += 1
            return .idle(connection)
        }
        if lent < maximum {
            lent += 1
            return .open
        }
        let id = announce()
        line.append(id)
        return .wait(id)
    }

    /// Whether there is no open connection: none is idle, and all those counted in `lent` are still to be opened.
    var reachesNothing: Bool { idle.isEmpty && lent == attempts + pausing }

    /// A place outside the queue for a caller that pauses between two attempts; `nil` if the pool is closed.
    mutating func pause() -> Int? {
        guard !isClosed else { return nil }
        pausing += 1
        return announce()
    }

    /// Ends a pause.
    mutating func resume() { pausing -= 1 }

    /// A place outside the queue for a caller that may open a connection and begins an attempt; `nil` if the pool is
    /// closed.
    mutating func begin() -> Int? {
        guard !isClosed else { return nil }
        attempts += 1
        return announce()
    }

    /// Ends the attempt of this place.
    ///
    /// - Returns: whether the caller of this place gets the result, and that caller's waiter if it is to be resumed
    ///   with the result now. If the caller has left, the connection, or the right to open one, goes to another caller.
    mutating func end(_ id: Int, _ turn: Turn) -> (isTaken: Bool, waiter: Waiter?) {
        attempts -= 1
        switch places[id] {
        case .announced:
            places[id] = .served(turn)
            return (true, nil)
        case .waiting(let waiter):
            places[id] = nil
            return (true, waiter)
        case .served, .left, nil: return (false, nil)
        }
    }

    private mutating func announce() -> Int {
        numbers += 1
        places[numbers] = .announced
        return numbers
    }

    /// Begins to wait.
    ///
    /// - Returns: the result if it is already known. Then the caller does not wait.
    mutating func await(_ id: Int, _ waiter: Waiter) -> Result<Turn, PostgresError>? {
        switch places[id] {
        case .announced:
            places[id] = .waiting(waiter)
            return nil
        case .served(let turn):
            places[id] = nil
            return .success(turn)
        case .left(let error):
            places[id] = nil
            return .failure(error)
        case .waiting, nil:
            return .failure(PostgresError(.poolClosed, "the pool was closed"))
        }
    }

    /// Gives a place up with this error.
    ///
    /// - Returns: the waiter to resume with the error.
    mutating func remove(_ id: Int, _ error: PostgresError) -> Waiter? {
        switch places[id] {
        case .announced: places[id] = .left(error)
        case .waiting: break
        case .served, .left, nil: return nil
        }
        line.removeAll { $0 == id }
        guard case .waiting(let waiter) = places[id] else { return nil }
        places[id] = nil
        return waiter
    }

    /// Takes a connection back.
    ///
    /// - Returns: the waiter to resume with it; `nil`: none waits.
    mutating func release(_ connection: PostgresConnection) -> Waiter? {
        guard !isClosed else {
            lent -= 1
            return nil
        }
        if let (isServed, waiter) = serveFirst(.connection(connection)) { return isServed ? nil : waiter }
        lent -= 1
        idle.append(connection)
        return nil
    }

    /// Removes a connection that is closed.
    ///
    /// - Returns: the waiter to resume with the right to open another one; `nil`: none waits.
    mutating func discard() -> Waiter? {
        if let (isServed, waiter) = serveFirst(.open()) { return isServed ? nil : waiter }
        lent -= 1
        return nil
    }

    /// Leaves the server of this generation, because it no longer accepts writes.
    ///
    /// - Returns: the server's idle connections, which must be closed.
    mutating func leave(_ generation: Int) -> [PostgresConnection] {
        guard generation == self.generation else { return [] }
        self.generation += 1
        defer { idle = [] }
        return idle
    }

    mutating func close() -> ([PostgresConnection], [Waiter]) {
        isClosed = true
        defer {
            idle = []
            line = []
            places = [:]
        }
        var waiters: [Waiter] = []
        for place in places.values {
            switch place {
            case .waiting(let waiter): waiters.append(waiter)
            // The pool is closed, so the caller that this turn was for will not take it.
            case .served: lent -= 1
            case .announced, .left: break
            }
        }
        return (idle, waiters)
    }

    /// - Returns: `nil` if no caller waits. Otherwise the waiter to resume, or `isServed` if the caller is about to
    ///   wait and will find the turn.
    private mutating func serveFirst(_ turn: Turn) -> (isServed: Bool, waiter: Waiter?)? {
        guard !line.isEmpty else { return nil }
        let id = line.removeFirst()
        if case .waiting(let waiter) = places.removeValue(forKey: id) { return (false, waiter) }
        places[id] = .served(turn)
        return (true, nil)
    }
}
