internal import APNsSimulator
internal import EmbeddedPostgres
internal import Foundation
internal import GrandstandClient
internal import GrandstandTestKit
internal import Synchronization

@testable internal import GrandstandCommand

/// The environment of a Saturday: the APNs simulator, a PostgreSQL server that can be frozen, and two replicas of the
/// program.
struct SaturdayGround: Sendable {
    static let bundleID = "com.example.Saturday"
    static let app = GrandstandClient.AppEnvironment(bundleID, .production)
    static let attributesType = "MatchAttributes"

    let simulator: Simulator
    let cluster: PostgresCluster
    /// One client for each replica.
    let clients: [GrandstandClient]
    /// A client with the key that ships in the app.
    let phones: GrandstandClient
    let tally = Tally()

    var organiser: Organiser { Organiser { [clients] in clients } }

    static func with<Value: Sendable>(_ body: (SaturdayGround) async throws -> Value) async throws -> Value {
        try await Stage.onCluster(settings: ["GRANDSTAND_LANE_INTERVAL": "1"]) { cluster, settings, simulator in
            let secret = try await Stage.secret(settings)
            let replicas = [try await ServerProcess.start(settings), try await ServerProcess.start(settings)]
            return try await withCleanup({ for replica in replicas { await replica.kill() } }) {
                let urls = replicas.compactMap { URL(string: $0.url) }
                let clients = urls.map { GrandstandClient.once($0, key: secret) }
                try await Organiser { clients }.putApp(bundleID, name: "Saturday")
                let key = try await clients[0].send(.createKey(name: "app", scopes: [.device], bundleId: bundleID))
                return try await body(
                    SaturdayGround(
                        simulator: simulator, cluster: cluster, clients: clients,
                        phones: GrandstandClient(server: urls[1], key: key.secret)))
            }
        }
    }

    /// Counts what happened, and collects what does not agree.
    final class Tally: Sendable {
        struct Counts {
            var numbers: [String: Int] = [:]
            var longest = Duration.zero
            var frozen = Duration.zero
            /// Descriptions of what does not agree.
            var disagreements: [String] = []
        }

        private let counts = Mutex(Counts())

        var current: Counts { counts.withLock { $0 } }

        func count(_ name: String, _ number: Int = 1) { counts.withLock { $0.numbers[name, default: 0] += number } }

        func answered(after time: Duration) { counts.withLock { $0.longest = max($0.longest, time) } }

        func froze(for time: Duration) { counts.withLock { $0.frozen += time } }

        func expect(_ holds: Bool, _ otherwise: @autoclosure () -> String) {
            if !holds { counts.withLock { $0.disagreements.append(otherwise()) } }
        }
    }

    // MARK: Calls of an impatient program

    /// Makes a call as the step says. The first attempt may be given up and repeated, and the call may be sent again
    /// after it was answered.
    ///
    /// - Parameter same: the part that must be equal in the answers to all copies of the call.
    func make<Value, Identity: Equatable>(
        _ call: GrandstandClient.Call<Value>, _ step: SaturdayScript.Step, turn: Int,
        same: (Value) -> Identity
    ) async throws -> Value {
        var hurried: Value?
        if let giveUp = step.giveUp {
            let attempt = Task { await organiser.attempt(call, turn: turn) }
            let timer = Task {
                try await Task.sleep(for: giveUp)
                attempt.cancel()
            }
            hurried = try? await attempt.value?.get().value
            timer.cancel()
            tally.count("calls")
            if hurried == nil { tally.count("time-outs") }
        }
        let value = try await decide(call, turn: turn + 1)
        if step.isSentTwice {
            tally.count("repeats")
            let again = try await decide(call, turn: turn)
            tally.expect(same(again) == same(value), "\(call.path): a repetition had another answer")
        }
        if let hurried {
            tally.count("repeats")
            tally.expect(same(hurried) == same(value), "\(call.path): a repetition had another answer")
        }
        return value
    }

    private func decide<Value>(_ call: GrandstandClient.Call<Value>, turn: Int) async throws -> Value {
        let decision = try await organiser.decide(call, first: turn)
        tally.count("calls", decision.attempts)
        tally.count("repeats", decision.attempts - 1)
        if decision.attempts == 1 { tally.answered(after: decision.took) }
        return try decision.result.get().value
    }

    /// Changes or declares an event. If an earlier copy of the call has already made the change, it is not made again.
    func change(
        _ key: String, _ step: SaturdayScript.Step, turn: Int,
        _ call: (_ tag: String?) throws -> GrandstandClient.Call<GrandstandClient.Event>,
        isDone: (GrandstandClient.Event) -> Bool
    ) async throws {
        while true {
            let found = try await organiser.decide(.getEvent(key), first: turn)
            let reply = try? found.result.get()
            if let reply, isDone(reply.value) { return }
            do {
                _ = try await make(try call(reply?.entityTag), step, turn: turn) { $0.key }
            } catch let problem as ServerProblem where problem.kind == .versionMismatch {
                tally.count("repeats")
            }
        }
    }
}
