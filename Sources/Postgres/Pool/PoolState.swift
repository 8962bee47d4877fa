/// The pool's decisions, without sockets: which connections are idle or lent, and which callers wait for one.
struct PoolState {
    /// A waiter's turn: a connection, or the right to open one.
    enum Turn: Sendable {
        case connection(PostgresConnection)
        case open
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
    }

    private var idle: [PostgresConnection] = []
    var idleCount: Int { idle.count }
    /// Lent, or being opened.
    private(set) var lent = 0
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
        numbers += 1
        line.append(numbers)
        places[numbers] = .announced
        return .wait(numbers)
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
        case .waiting, nil:
            return .failure(PostgresError(.poolClosed, "the pool was closed"))
        }
    }

    /// Takes a waiter out of the line.
    mutating func remove(_ id: Int) -> Waiter? {
        guard case .waiting(let waiter) = places[id] else { return nil }
        places[id] = nil
        line.removeAll { $0 == id }
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
        if let (isServed, waiter) = serveFirst(.open) { return isServed ? nil : waiter }
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
        let waiters = line.compactMap { id -> Waiter? in
            guard case .waiting(let waiter) = places[id] else { return nil }
            return waiter
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
