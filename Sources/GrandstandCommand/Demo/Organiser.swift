internal import APNsSimulator
internal import Foundation
internal import GrandstandClient

/// An organiser's backend. It calls whichever server answers, and repeats each call until a server decides it: the
/// server accepts or finally refuses the call.
///
/// A repetition is the same call: a POST has the same `Idempotency-Key`, so the repetition has no second effect.
struct Organiser: Sendable {
    /// The result of a call.
    struct Decision<Value: Sendable>: Sendable {
        let result: Result<GrandstandClient.Reply<Value>, ServerProblem>
        /// The time from the first attempt to the decision.
        let took: Duration
        let attempts: Int

        /// The server's refusal; `nil`: it did what was asked.
        var problem: ServerProblem? { if case .failure(let problem) = result { problem } else { nil } }
    }

    /// The clients of the servers that exist now.
    private let clients: @Sendable () -> [GrandstandClient]
    private let patience: Duration

    /// - Parameters:
    ///   - patience: how long a call is repeated.
    ///   - clients: returns one client for each present server. A client should not repeat requests itself
    ///     (`GrandstandClient.once`).
    init(patience: Duration = .seconds(120), clients: @escaping @Sendable () -> [GrandstandClient]) {
        self.patience = patience
        self.clients = clients
    }

    /// Makes a call once.
    ///
    /// - Parameter turn: chooses the server: its index is `turn` modulo the number of servers.
    /// - Returns: `nil` without an answer. The server may have processed the call.
    func attempt<Value>(
        _ call: GrandstandClient.Call<Value>, turn: Int = 0
    ) async -> Result<GrandstandClient.Reply<Value>, ServerProblem>? {
        let clients = clients()
        guard !clients.isEmpty else { return nil }
        do {
            return .success(try await clients[turn % clients.count].reply(to: call))
        } catch {
            return (error as? ServerProblem).map { .failure($0) }
        }
    }

    /// Repeats a call, each time at the next server, until one decides it.
    ///
    /// - Throws: `PlayFailure` if there is no decision in time; `CancellationError`.
    func decide<Value>(_ call: GrandstandClient.Call<Value>, first: Int = 0) async throws -> Decision<Value> {
        let start = ContinuousClock.now
        var attempts = 0
        while true {
            let result = await attempt(call, turn: first + attempts)
            attempts += 1
            if let result, Self.isDecision(result) {
                return Decision(result: result, took: ContinuousClock.now - start, attempts: attempts)
            }
            try Task.checkCancellation()
            guard ContinuousClock.now - start < patience else {
                throw PlayFailure("\(call.operation.method) \(call.path) was not decided in time: \(result as Any)")
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Repeats a call until a server decides it. The call must succeed.
    ///
    /// - Throws: the errors of `decide`, and the server's refusal.
    @discardableResult
    func send<Value>(_ call: GrandstandClient.Call<Value>) async throws -> Value {
        try await decide(call).result.get().value
    }

    /// `false` if the server cannot act now, or still processes the first copy of the call.
    private static func isDecision<Value>(_ result: Result<Value, ServerProblem>) -> Bool {
        guard case .failure(let problem) = result else { return true }
        return problem.status < 500 && problem.status != 429 && problem.kind != .idempotencyInProgress
    }

    // MARK: Steps of a match

    /// Calls `ask` repeatedly until it returns a value.
    ///
    /// - Throws: `PlayFailure` after `patience`.
    func poll<Value>(_ what: String, _ ask: () async throws -> Value?) async throws -> Value {
        let deadline = ContinuousClock.now + patience
        while ContinuousClock.now < deadline {
            if let value = try await ask() { return value }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw PlayFailure("\(what): not there after \(patience)")
    }

    /// Registers an app whose key the simulator knows.
    func putApp(_ bundleID: String, name: String) async throws {
        try await send(
            .putApp(
                bundleID,
                .init(name: name, teamId: SimulatorIdentity.teamID, keyId: SimulatorIdentity.keyID)))
    }

    /// Waits until every audience of an event has its channel.
    @discardableResult
    func channels(of key: String) async throws -> GrandstandClient.Event {
        try await poll("the channels of \(key)") {
            let event = try await send(.getEvent(key))
            return event.audiences.allSatisfy { $0.channel.state == .active } ? event : nil
        }
    }

    /// Waits until all deliveries of a broadcast are settled.
    func settled(_ id: String) async throws -> GrandstandClient.Broadcast {
        try await poll("the end of broadcast \(id)") {
            let broadcast = try await send(.getBroadcast(id))
            return broadcast.state == .done || broadcast.state == .cancelled ? broadcast : nil
        }
    }
}

/// Why a match could not be played, or which result was wrong.
struct PlayFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension GrandstandClient {
    /// A client of a server on this machine. The client makes each request only once.
    static func once(_ server: URL, key: String?, timeout: TimeInterval = 15) -> GrandstandClient {
        GrandstandClient(server: server, key: key, retry: .never, timeout: timeout)
    }
}

/// Runs `body` for all elements, at most `width` at a time.
///
/// - Parameter progress: gets the number of elements that are done, each time that it rises.
/// - Returns: what `body` returned, in the order in which it ended.
@discardableResult
func forEach<Elements: Sequence, Value: Sendable>(
    _ elements: Elements, atMost width: Int, progress: (Int) -> Void = { _ in },
    _ body: @escaping @Sendable (Elements.Element) async throws -> Value
) async throws -> [Value] where Elements.Element: Sendable {
    try await withThrowingTaskGroup(of: Value.self) { group in
        var values: [Value] = []
        func add(_ value: Value) {
            values.append(value)
            progress(values.count)
        }
        for (index, element) in elements.enumerated() {
            if index >= width, let value = try await group.next() { add(value) }
            group.addTask { try await body(element) }
        }
        for try await value in group { add(value) }
        return values
    }
}
