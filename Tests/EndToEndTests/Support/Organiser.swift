internal import APNsSimulator
internal import Foundation
internal import GrandstandClient
internal import GrandstandTestKit

/// An organiser's backend. It calls whichever server answers, and repeats each call until a server decides it: the
/// server accepts or finally refuses the call.
///
/// A repetition is the same call: a POST has the same `Idempotency-Key`, so the repetition has no second effect.
struct Organiser: Sendable {
    typealias Answer<Value> = Result<GrandstandClient.Reply<Value>, ServerProblem>

    /// The clients of the servers that exist now. A client should not repeat requests itself (`GrandstandClient.once`).
    let clients: @Sendable () -> [GrandstandClient]

    /// Makes a call once.
    ///
    /// - Parameter turn: chooses the server: its index is `turn` modulo the number of servers.
    /// - Returns: `nil` without an answer. The server may have processed the call.
    func attempt<Value>(_ call: GrandstandClient.Call<Value>, turn: Int = 0) async -> Answer<Value>? {
        let clients = clients()
        guard !clients.isEmpty else { return nil }
        do {
            return .success(try await clients[turn % clients.count].reply(to: call))
        } catch {
            return (error as? ServerProblem).map { .failure($0) }
        }
    }

    /// Repeats a call, each time at the next server, until one decides it.
    func decide<Value>(
        _ call: GrandstandClient.Call<Value>, first: Int = 0
    ) async throws -> (result: Answer<Value>, took: Duration, attempts: Int) {
        let start = ContinuousClock.now
        var attempts = 0
        return try await until("\(call.operation.method) \(call.path) was decided", within: .seconds(120)) {
            let result = await attempt(call, turn: first + attempts)
            attempts += 1
            // The server cannot act now, or still processes the first copy of the call.
            if case .failure(let problem)? = result,
                problem.status >= 500 || problem.status == 429 || problem.kind == .idempotencyInProgress
            {
                return nil
            }
            return result.map { ($0, ContinuousClock.now - start, attempts) }
        }
    }

    /// Repeats a call until a server decides it. The call must succeed.
    ///
    /// - Throws: the errors of `decide`, and the server's refusal.
    @discardableResult
    func send<Value>(_ call: GrandstandClient.Call<Value>) async throws -> Value {
        try await decide(call).result.get().value
    }

    // MARK: Steps of a match

    /// Registers an app whose key the simulator knows.
    func putApp(_ bundleID: String, name: String) async throws {
        let (team, key) = (SimulatorIdentity.teamID, SimulatorIdentity.keyID)
        try await send(.putApp(bundleID, .init(name: name, teamId: team, keyId: key)))
    }

    /// Waits until every audience of an event has its channel.
    func channels(of key: String) async throws {
        try await until("the channels of \(key)", within: .seconds(120)) {
            try await send(.getEvent(key)).audiences.allSatisfy { $0.channel.state == .active }
        }
    }

    /// Waits until all deliveries of a broadcast are settled.
    func settled(_ id: String) async throws {
        try await until("the end of broadcast \(id)", within: .seconds(120)) {
            [.done, .cancelled].contains(try await send(.getBroadcast(id)).state)
        }
    }
}

extension GrandstandClient {
    /// A client of a server on this machine. The client makes each request only once.
    static func once(_ server: URL, key: String?, timeout: TimeInterval = 15) -> GrandstandClient {
        GrandstandClient(server: server, key: key, retry: .never, timeout: timeout)
    }
}
