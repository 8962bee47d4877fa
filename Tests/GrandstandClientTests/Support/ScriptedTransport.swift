internal import Foundation
internal import GrandstandClient
internal import Synchronization

/// A transport that gives scripted answers and records the requests.
final class ScriptedTransport: ClientTransport {
    private let asked = Mutex<[GrandstandClient.Request]>([])
    private let script: @Sendable (GrandstandClient.Request) throws -> GrandstandClient.Answer

    init(_ script: @escaping @Sendable (GrandstandClient.Request) throws -> GrandstandClient.Answer) {
        self.script = script
    }

    /// Gives these answers in order, and repeats the last one.
    convenience init(_ answers: [@Sendable () throws -> GrandstandClient.Answer]) {
        let next = Mutex(0)
        self.init { _ in
            let index = next.withLock { number in
                defer { number += 1 }
                return min(number, answers.count - 1)
            }
            return try answers[index]()
        }
    }

    var requests: [GrandstandClient.Request] { asked.withLock { $0 } }

    func open(_ request: GrandstandClient.Request) async throws -> GrandstandClient.Answer {
        asked.withLock { $0.append(request) }
        return try script(request)
    }
}

/// A clock that a test controls. A wait takes no time and moves the clock.
final class HeldTime: Sendable {
    private struct State {
        var now = Date(timeIntervalSince1970: 1_795_293_900)
        var uptime = TimeInterval.zero
        var waits: [TimeInterval] = []
    }

    private let state = Mutex(State())
    private let chance: Double

    init(chance: Double = 1) { self.chance = chance }

    var waits: [TimeInterval] { state.withLock { $0.waits } }
    var now: Date { state.withLock { $0.now } }

    func advance(_ seconds: Double) {
        state.withLock { state in
            state.now += seconds
            if seconds > 0 { state.uptime += seconds }
        }
    }

    var time: ClientTime {
        var time = ClientTime.system
        time.now = { self.now }
        time.uptime = { self.state.withLock { $0.uptime } }
        time.sleep = { wait in
            try Task.checkCancellation()
            self.state.withLock { state in
                state.waits.append(wait)
                state.uptime += wait
                state.now += wait
            }
        }
        time.random = { [chance] in chance }
        return time
    }
}

extension GrandstandClient {
    static func test(
        _ transport: ScriptedTransport, _ held: HeldTime = HeldTime(), retry: RetryPolicy = .standard,
        cache: AnswerCache? = nil
    ) -> GrandstandClient {
        let server = URL(string: "https://grandstand.example/base/")
        var client = GrandstandClient(
            server: server ?? URL(filePath: "/"), key: "secret", transport: transport, retry: retry, cache: cache)
        client.time = held.time
        return client
    }
}

extension GrandstandClient.Answer {
    static func problem(
        _ status: Int, _ slug: String, headers: [String: String] = [:]
    ) -> GrandstandClient.Answer {
        let text =
            #"{"type":"https://grandstand.dev/problems/\#(slug)","title":"T","status":\#(status),"detail":"D"}"#
        return .init(status: status, headers: headers, body: Data(text.utf8))
    }

    static func json(_ text: String, headers: [String: String] = [:]) -> GrandstandClient.Answer {
        .init(status: 200, headers: headers, body: Data(text.utf8))
    }
}
