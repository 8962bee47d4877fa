internal import APNsSimulator
internal import GrandstandClient
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandCommand

/// Whatever is killed during a start: no phone shows two cards, and the phones without a card are counted.
///
/// The gate (`.ci/run`) kills a few times. `GRANDSTAND_START_KILLS=20` is the long run, and `GRANDSTAND_KILLS_SEED`
/// repeats the choices of a run.
@Suite(.timeLimit(.minutes(20)))
struct StartKillTests {
    private static let kills = Drill.number("GRANDSTAND_START_KILLS") ?? 4
    private static let seed = Drill.seed("GRANDSTAND_KILLS_SEED")
    private static let phones = 200

    @Test func `although replicas are killed during starts no phone shows two activities, and all are counted`()
        async throws
    {
        print("kills of starts: \(Self.kills), GRANDSTAND_KILLS_SEED=\(Self.seed)")
        // One connection cannot carry the pushes to all phones at once. So when something is killed, some pushes are
        // sent, some are under way and some have not begun.
        try await Stadium.with(events: 0, settings: ["GRANDSTAND_APNS_CONNECTIONS": "1"]) { stadium, simulator in
            try await stadium.open()
            let key = try #require(
                try await stadium.caller(0)?(
                    "POST", "/v1/keys", #"{"name": "app", "scopes": ["device"], "bundleId": "\#(Stage.bundleID)"}"#
                ).json["secret"]?.string)
            try simulator.addFaults(Self.faults)
            var random = SplitMix(seed: Self.seed)
            var kickOffs: [(start: KickOff, confirmed: [Fan])] = []
            var tally: [Stadium.Kill: Int] = [:]
            for round in 1...Self.kills {
                let start = try KickOff(
                    "kick-off-\(round)", size: Self.phones, stadium, simulator, deviceKey: key)
                // PostgreSQL is killed at least once, even in a short run.
                let kill = round == 1 ? .database : Stadium.Kill.any(&random)
                let (victim, moment) = (random.next(below: 2), 1 + random.next(below: Self.phones / 2))
                tally[kill, default: 0] += 1
                try await start.begin()
                async let goingOn: Void = start.registerDuringStart()
                try await simulator.awaitRequests(moment, where: start.isPush)
                await stadium.perform(kill, on: victim)
                try await stadium.revive()
                try await goingOn
                kickOffs.append((start, try await start.confirm()))
            }
            var sum: [String: Int] = [:]
            for (start, confirmed) in kickOffs {
                for (name, count) in try await Self.check(start, confirmed, stadium) { sum[name, default: 0] += count }
            }
            print("kills of starts: \(Drill.text(tally)); \(sum.sorted { $0.key < $1.key })")
        }
    }

    /// APNs refuses some pushes and delays others. APNs processes some pushes, but their answers are lost. APNs does
    /// not process others, and their streams are reset.
    private static let faults = """
        {"faults": [
            {"match": {"operation": "device", "rate": 0.02}, "action": "refuse", "reason": "ServiceUnavailable"},
            {"match": {"operation": "device", "rate": 0.01}, "action": "lose", "by": "reset"},
            {"match": {"operation": "device", "rate": 0.01}, "action": "reset"},
            {"match": {"operation": "device", "rate": 0.02}, "action": "refuseStream"},
            {"match": {"operation": "device", "rate": 0.3}, "action": "delay", "seconds": 0.1}]}
        """

    /// Compares the report of a start with its rows, and the rows with the phones.
    ///
    /// - Returns: the counts of the report, and how many phones show the card of the start.
    private static func check(_ start: KickOff, _ confirmed: [Fan], _ stadium: Stadium) async throws -> [String: Int] {
        let report = try await start.done()
        let rows = try await stadium.rows(
            """
            select i.installation::text as installation, s.state::text as state, s.confirmed_at is not null as is_confirmed
            from start_runs r join starts s on s.run = r.id join installations i on i.id = s.installation
            where r.event_key = \(start.event) and s.state not in ('pending', 'sending')
            """)
        var states: [String: String] = [:]
        for row in rows {
            let installation = try row.decode(String.self, "installation")
            states[installation] = try row.decode(String.self, "state")
            if try row.decode(Bool.self, "is_confirmed") {
                #expect(confirmed.contains { $0.identity.installationId == installation })
            }
        }
        #expect(report.addsUp, "\(report)")
        #expect(report.count("followers") == start.installations.count)
        #expect(report.count("pending") == 0)
        // A phone with a reinstalled app may have got its card as the old or as the new installation.
        #expect(report.count("confirmed") == confirmed.count { states[$0.identity.installationId] != nil })
        var sum = ["cards": 0]
        for state in ["accepted", "rejected", "unknown"] {
            sum[state] = states.values.count { $0 == state }
            #expect(report.count(state) == sum[state])
        }
        let phones = Dictionary(grouping: start.installations, by: \.phone)
        for (phone, installations) in phones {
            let cards = start.cards(of: installations[0])
            let known = installations.compactMap { states[$0.identity.installationId] }
            sum["cards"]? += cards
            #expect(cards <= 1, "\(phone): \(cards) cards, \(known)")
            if known.contains("accepted") {
                #expect(cards == 1, "\(phone): accepted, and not there")
            } else if !known.contains("unknown") {
                #expect(cards == 0, "\(phone): a card nobody counts, \(known)")
            }
        }
        return sum
    }
}

/// A start during which servers or PostgreSQL are killed: an event, the followers of its team, and what they do
/// meanwhile.
struct KickOff: Sendable {
    let event: String
    /// Phones that register before the start.
    let early: [Fan]
    /// Phones that register during the start.
    let late: [Fan]
    /// Early phones whose app is reinstalled during the start: the same phone and token, another installation.
    let reinstalled: [Fan]

    private let stadium: Stadium
    private let simulator: Simulator
    private let deviceKey: String

    /// Adds the phones to the simulator: `size` early ones with several system versions, and some late ones.
    init(_ event: String, size: Int, _ stadium: Stadium, _ simulator: Simulator, deviceKey: String) throws {
        self.event = event
        self.stadium = stadium
        self.simulator = simulator
        self.deviceKey = deviceKey
        func fans(_ kind: String, _ count: Int) throws -> [Fan] {
            try (0..<count).map { n in
                var fan = try Fan(
                    "\(event)-\(kind)-\(n)", Self.systems[n % Self.systems.count], simulator)
                fan.topics = ["team:\(event)", "league:\(event)"]
                return fan
            }
        }
        early = try fans("early", size)
        late = try fans("late", size / 5)
        reinstalled = early.prefix(size / 10).map { fan in
            var fan = fan
            fan.identity = .init(new: fan.identity.app)
            return fan
        }
    }

    private static let systems = ["18.4", "26.0", "17.4", "18.0", "17.0"]

    var installations: [Fan] { early + late + reinstalled }

    /// Registers the early phones, declares the event and starts it; returns when its start was accepted.
    func begin() async throws {
        try await register(early)
        let body = Stage.startingEvent(topics: ["team:\(event)", "league:\(event)"])
        try await insist("the event is declared") { try await $0("PUT", "/v1/events/\(event)", body) }
        try await insist("the start is asked for") { try await $0("POST", "/v1/events/\(event)/starts") }
    }

    /// Registers the late and the reinstalled phones while servers are killed.
    func registerDuringStart() async throws { try await register(late + reinstalled) }

    /// Every second phone reports its card, if the phone shows a card.
    ///
    /// - Returns: the phones that reported a card.
    func confirm() async throws -> [Fan] {
        let shown = (early + late).enumerated().filter { $0.offset.isMultiple(of: 2) && cards(of: $0.element) > 0 }
            .map(\.element)
        try await inParallel(shown, atMost: 12) { fan in
            try await insist("\(fan.phone) reports", key: deviceKey) { try await fan.report($0, of: event) }
        }
        return shown
    }

    func cards(of fan: Fan) -> Int { simulator.lockScreen(of: fan.phone).count }

    /// Whether a request is a push for one of these phones.
    var isPush: @Sendable (JournalEntry) -> Bool {
        let tokens = Set((early + late).compactMap(\.token))
        return { entry in entry.request.deviceToken.map(tokens.contains) ?? false }
    }

    /// Waits until nothing is left to send.
    func done() async throws -> JSON {
        try await until("the start of \(event) is done", within: .seconds(120)) {
            let answer = try? await stadium.caller(0)?("GET", "/v1/events/\(event)/starts")
            guard let report = answer?.json, report["state"]?.string == "done" else { return nil }
            return report
        }
    }

    private func register(_ fans: [Fan]) async throws {
        try await inParallel(fans, atMost: 12) { fan in
            try await insist("\(fan.phone) registers", key: deviceKey) { try await fan.register($0) }
        }
    }

    /// Repeats a call at the two replicas in turn until it succeeds, as clients do.
    ///
    /// - Parameter key: another key than that of the stadium.
    private func insist(
        _ what: String, key: String? = nil, _ call: @Sendable (HTTPCaller) async throws -> HTTPCaller.Answer
    ) async throws {
        var replica = 0
        try await until(what, within: .seconds(60)) {
            replica = 1 - replica
            guard var caller = stadium.caller(replica) else { return false }
            if let key { caller.secret = key }
            guard let answer = try? await call(caller) else { return false }
            if (200..<300).contains(answer.status) { return true }
            try #require(answer.status >= 500, "\(what): \(answer.text)")
            return false
        }
    }
}
