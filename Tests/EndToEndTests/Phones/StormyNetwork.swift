internal import Foundation
internal import GrandstandTestKit
internal import PhoneFakes
internal import Synchronization

/// A network between phones and the server. It loses, delays, doubles and reorders whole requests. Random numbers from
/// a seed decide what happens to each request.
final class StormyNetwork: Sendable {
    private struct State {
        var random: Random
        var isCalm = false
        var held: [(after: Int, request: Receiver.Request)] = []
        var counts: [String: Int] = [:]
    }

    private enum Fate {
        case arrives, lost, answerLost, doubled, late(Int), busy
    }

    private let server: HTTPCaller
    private let state: Mutex<State>

    init(to server: String, seed: UInt64) {
        self.server = HTTPCaller(url: server)
        state = Mutex(State(random: Random(seed: seed)))
    }

    /// How many requests had each fate.
    var counts: [String: Int] { state.withLock { $0.counts } }

    /// Delivers the delayed requests, the last one first. From then on, all requests arrive.
    func calm() async {
        let held = state.withLock { state in
            state.isCalm = true
            defer { state.held = [] }
            return state.held
        }
        for (_, request) in held.reversed() { _ = await forward(request) }
    }

    func carry(_ request: Receiver.Request) async -> Receiver.Reaction {
        let (fate, due) = state.withLock { state in
            for index in state.held.indices { state.held[index].after -= 1 }
            let due = state.held.filter { $0.after < 0 }.map(\.request)
            state.held.removeAll { $0.after < 0 }
            return (Self.fate(of: request, &state), due)
        }
        for late in due { _ = await forward(late) }
        switch fate {
        case .arrives: return await forward(request)
        case .lost, .late: return .hangUp
        case .answerLost:
            _ = await forward(request)
            return .hangUp
        case .doubled:
            async let copy = forward(request)
            let answer = await forward(request)
            _ = await copy
            return answer
        case .busy: return .answer(503, headers: ["retry-after": "1"])
        }
    }

    private static func fate(of request: Receiver.Request, _ state: inout State) -> Fate {
        guard !state.isCalm else { return .arrives }
        let (name, fate): (String, Fate) =
            switch state.random.next(below: 10) {
            case 0, 1: ("lost", .lost)
            case 2: ("answerLost", .answerLost)
            case 3: ("doubled", .doubled)
            case 4, 5: ("late", .late(state.random.next(below: 5)))
            case 6: ("busy", .busy)
            default: ("arrives", .arrives)
            }
        state.counts[name, default: 0] += 1
        if case .late(let after) = fate { state.held.append((after, request)) }
        return fate
    }

    private func forward(_ request: Receiver.Request) async -> Receiver.Reaction {
        let names = ["authorization", "content-type", "grandstand-installation-secret", "if-none-match"]
        let headers = request.headers.filter { names.contains($0.key) }
        let answer = try? await server(
            request.method, request.target, bytes: request.body.isEmpty ? nil : Data(request.body), headers: headers)
        guard let answer else { return .hangUp }
        let kept = ["content-type", "etag", "cache-control", "retry-after"]
        return .file(
            Array(answer.body), status: answer.status, headers: answer.headers.filter { kept.contains($0.key) })
    }
}
