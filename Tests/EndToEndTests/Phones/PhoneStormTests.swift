internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandLiveActivities
internal import GrandstandTestKit
internal import PhoneFakes
internal import Synchronization
internal import Testing

/// The app's library against the real server and the simulator, over a network that loses, delays, doubles and reorders
/// requests.
@Suite(.timeLimit(.minutes(20)))
struct PhoneStormTests {
    private static let app = GrandstandClient.AppEnvironment(Stage.bundleID, .production)

    @Test func `after network faults the server has the phone's last state and each start once`() async throws {
        try await Stage.with(settings: ["GRANDSTAND_INSTALLATION_LIMIT": "100000"]) { stage in
            try await stage.putApp()
            for key in ["derby", "final"] { try await stage.putStartingEvent(key) }
            let key = try #require(try await stage.appsKey().secret)
            // Each phone has a network of its own, so the phones need not wait for each other.
            let counts = try await withThrowingTaskGroup(of: [String: Int].self) { group in
                for seed in 0..<16 as Range<UInt64> {
                    group.addTask {
                        let network = StormyNetwork(to: stage.url, seed: 21 + seed)
                        try await Receiver.with(react: { _, request in .later { await network.carry(request) } }) {
                            let url = try #require(URL(string: $0.url))
                            try await Self.checkPhone(seed, network, url, key)
                        }
                        return network.counts
                    }
                }
                return try await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
            }
            for fate in ["lost", "answerLost", "doubled", "late", "busy", "arrives"] {
                #expect(counts[fate, default: 0] > 0, "\(counts)")
            }
        }
    }

    private static func checkPhone(
        _ seed: UInt64, _ network: StormyNetwork, _ proxy: URL, _ key: String
    ) async throws {
        let phone = Phone()
        defer { phone.discard() }
        let client = GrandstandClient(server: proxy, key: key, retry: .never)
        let server = GrandstandServer(client: client, app: Self.app)
        var random = Random(seed: seed)
        var app = await phone.launch(server: server)
        var wished: Set<String> = []
        for _ in 0..<12 {
            switch random.next(below: 7) {
            case 0: try await app.follow(["team:\(random.next(below: 12))"])
            case 1: try await app.unfollow(["team:\(random.next(below: 12))"])
            case 2:
                let token = "\(100_000 + random.next(below: 800_000))\(100_000 + seed)"
                phone.host.change { $0.facts.tokens["MatchAttributes"] = token }
                phone.host.tell(.startToken(type: "MatchAttributes", token: token))
            case 3:
                let event = ["derby", "final"][random.next(below: 2)]
                if (try? await app.show(Phone.match(event))) != nil { wished.insert(event) }
            case 4: await app.refresh()
            case 5: await app.flush()
            default:
                await app.stop()
                app = await phone.launch(server: server)
            }
        }
        await app.flush()
        await network.calm()
        await app.refresh()
        let status = await app.wait { $0.phase == .upToDate && $0.waitingFor.isEmpty }
        await app.stop()

        let condition = await phone.host.condition()
        #expect(Set(condition.activities.map(\.eventKey)) == wished, "seed \(seed)")
        #expect(condition.activities.count == wished.count, "seed \(seed)")
        #expect(!phone.host.channels.contains(nil), "seed \(seed)")
        let known = try await client.send(.getInstallation(phone.store().identity()))
        #expect(known.topics.sorted() == status.topics, "seed \(seed)")
        #expect(condition.facts.systemVersion.hasPrefix(known.systemVersion), "seed \(seed)")
        let endings = condition.facts.tokens.mapValues { String($0.suffix(6)) }
        #expect(known.startTokens.count == endings.count, "seed \(seed)")
        for token in known.startTokens {
            #expect(endings[token.attributesType].map { token.token.hasSuffix($0) } == true, "seed \(seed)")
        }
        let shown = Dictionary(known.activities.map { ($0.activityId, $0) }) { first, _ in first }
        for card in condition.activities {
            #expect(shown[card.id]?.eventKey == card.eventKey, "seed \(seed)")
            #expect(shown[card.id]?.state.rawValue == card.state.rawValue, "seed \(seed)")
            #expect(shown[card.id]?.channelId != nil, "seed \(seed)")
        }
    }
}

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
