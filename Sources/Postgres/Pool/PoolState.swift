/// The pool's decisions, without sockets: which connections are idle or lent, and which callers wait for one.
struct PoolState {
    /// A waiter's turn: a connection, or the right to open one.
    enum Turn: Sendable {
        case connection(PostgresConnection)
        /// - Parameter failure: why the waiter's own attempt to open one made none, if it waited for that.
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
        /// Has a number, does not wait yet.
        case announced
        case waiting(Waiter)
        /// The turn, when it came before the wait began.
        case served(Turn)
        /// Was given up before the wait began.
        case left(PostgresError)
    }

    private var idle: [PostgresConnection] = []
    var idleCount: Int { idle.count }
    /// Lent, or being opened.
    private(set) var lent = 0
    /// Of these, attempts to open one that are under way, whether or not a caller still waits for them.
    private(set) var attempts = 0
    /// Callers between two attempts.
    private var pausing = 0
    private(set) var isClosed = false
    /// Counts the servers that were left because they take no writes any more. What was opened before the last of them
    /// was left is not lent again.
    private(set) var generation = 0
    private var places: [Int: Place] = [:]
    /// Numbers in the order of asking.
    private var line: [Int] = []
    private var numbers = 0

    /// The most recently used connection, the right to open one, or a place in the line.
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

    /// Whether nobody has a connection: all that have a place try to open one.
    var reachesNothing: Bool { idle.isEmpty && lent == attempts + pausing }

    /// A place outside the line, for a caller that pauses between two attempts; `nil` when the pool is closed.
    mutating func pause() -> Int? {
        guard !isClosed else { return nil }
        pausing += 1
        return announce()
    }

    /// The pause is over.
    mutating func goOn() { pausing -= 1 }

    /// A place outside the line for a caller that has the right to open a connection, and begins an attempt.
    mutating func begin() -> Int? {
        guard !isClosed else { return nil }
        attempts += 1
        return announce()
    }

    /// The attempt of this place has ended.
    ///
    /// - Returns: whether its caller gets what came of it, and the waiter to resume with that now. A caller that has left
    ///   leaves connection or right behind.
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
    /// - Returns: the turn that has come already, for the caller to resume with.
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

    /// Gives a place up, with what is said to its caller.
    ///
    /// - Returns: the waiter to resume with it.
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

    /// A connection comes back.
    ///
    /// - Returns: the waiter to resume with it.
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

    /// A connection is closed.
    ///
    /// - Returns: the waiter to resume with the right to open another.
    mutating func discard() -> Waiter? {
        if let (isServed, waiter) = serveFirst(.open()) { return isServed ? nil : waiter }
        lent -= 1
        return nil
    }

    /// The server of this generation takes no writes any more.
    ///
    /// - Returns: its idle connections, to be closed.
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
            // Nobody will take what is there.
            case .served: lent -= 1
            case .announced, .left: break
            }
        }
        return (idle, waiters)
    }

    /// - Returns: `nil` when no caller waits; else the waiter, or that the turn is kept for one that is about to wait.
    private mutating func serveFirst(_ turn: Turn) -> (isServed: Bool, waiter: Waiter?)? {
        guard !line.isEmpty else { return nil }
        let id = line.removeFirst()
        if case .waiting(let waiter) = places.removeValue(forKey: id) { return (false, waiter) }
        places[id] = .served(turn)
        return (true, nil)
    }
}
