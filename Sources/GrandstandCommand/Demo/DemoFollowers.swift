internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandClient

/// Push to start: a thousand phones follow a team, and its match comes to their lock screens by itself.
struct DemoFollowers: Sendable {
    /// Steps reported.
    static let steps = 10
    static let broadcasts = 2
    private static let count = 1_000
    private static let team = "team:argentina"
    private static let key = "copa-america-2024-final"
    private static let attributesType = "DemoAttributes"

    let stage: DemoStage
    let report: DemoReport
    private let phones: [DemoPhone]

    init(stage: DemoStage, report: DemoReport) throws {
        self.stage = stage
        self.report = report
        phones = try (0..<Self.count).map { try DemoPhone($0, stage.simulator) }
    }

    /// Without the channels that came with iOS 18.
    private var old: DemoPhone { phones[0] }
    private var travellers: ArraySlice<DemoPhone> { phones.suffix(2) }

    func play() async throws {
        report.heading("Push to start: a thousand phones follow Argentina")
        let app = try await appsClient()
        try await register(app)
        try await declare()
        for phone in travellers { stage.simulator.setOnline(false, device: phone.id) }
        report.step("two phones go offline", "")
        try await kickOff()
        try await confirm(app)
        let goal: [String: Any] = [
            "event": "update", "contentState": ["minute": 112, "argentina": 1, "colombia": 0],
            "alert": ["title": "¡Gol!", "body": "Lautaro Martínez, 1–0"],
        ]
        try await send(goal, called: "112'  Lautaro Martínez, 1–0", reaching: phones.dropLast(2))
        for phone in travellers { stage.simulator.setOnline(true, device: phone.id) }
        report.step("the two are back", try shown(#""argentina":1"#, by: phones[...]))
        try await send(
            ["event": "end", "contentState": ["minute": 120, "argentina": 1, "colombia": 0]], called: "the end",
            reaching: phones[...])
    }

    private func appsClient() async throws -> GrandstandClient {
        let body: [String: Any] = ["name": "app", "scopes": ["device"], "bundleId": DemoMatch.bundleID]
        let issued: IssuedKey = try await stage.client.call(
            "POST", "/v1/keys", json: try JSONSerialization.data(withJSONObject: body))
        report.step("a key that ships in the app", "scope device, for \(DemoMatch.bundleID)")
        return GrandstandClient(server: stage.address, key: issued.secret)
    }

    private func register(_ app: GrandstandClient) async throws {
        let started = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, phone) in phones.enumerated() {
                if index >= 32 { try await group.next() }
                group.addTask {
                    let answer = try await phone.follow(Self.team, attributesType: Self.attributesType, app)
                    try stage.expect(answer, 201)
                }
            }
            try await group.waitForAll()
        }
        report.step("\(phones.count) phones follow \(Self.team)", "registered in \(Self.time(since: started))")
    }

    private func declare() async throws {
        let alert = ["title": DemoPhone.alerts[0].title, "body": "Argentina – Colombia"]
        let body: [String: Any] = [
            "name": "Argentina – Colombia", "topics": [Self.team],
            "audiences": [
                [
                    "bundleId": DemoMatch.bundleID, "environment": "production",
                    "storagePolicy": "mostRecentMessageStored",
                ]
            ],
            "start": [
                "at": Date(timeIntervalSinceNow: 86_400).formatted(.iso8601), "attributesType": Self.attributesType,
                "attributes": ["home": "Argentina", "away": "Colombia"],
                "contentState": ["minute": 0, "argentina": 0, "colombia": 0], "alert": alert,
                "alertsByLocale": ["es": ["title": DemoPhone.alerts[1].title, "body": "Argentina – Colombia"]],
            ],
        ]
        try stage.expect(
            try await stage.client.send(
                "PUT", "/v1/events/\(Self.key)", json: try JSONSerialization.data(withJSONObject: body)), 201)
        report.step("event \(Self.key)", "declared, with its start for tomorrow")
        let preview: StartsView = try await stage.client.call(
            "POST", Self.starts, json: Data(#"{"dryRun": true}"#.utf8))
        guard preview.counts.pending == phones.count, pushes == 0 else {
            throw DemoFailure("the preview counts \(preview.counts), and \(pushes) pushes were sent")
        }
        report.step("a preview", "\(preview.counts.pending) phones would get it; nothing was sent")
    }

    private static let starts = "/v1/events/\(key)/starts"

    private func kickOff() async throws {
        let asked = ContinuousClock.now
        try stage.expect(try await stage.client.send("POST", Self.starts), 202)
        let done: StartsView = try await stage.poll("the start of \(Self.key)") {
            let view: StartsView = try await stage.client.call("GET", Self.starts)
            return view.state == "done" ? view : nil
        }
        let time = Self.time(since: asked)
        report.step(
            "kick-off, now instead of tomorrow", try shown(#""minute":0"#, by: phones.dropLast(2)) + ", after \(time)")
        for phone in phones.dropLast(2) {
            guard let alert = stage.simulator.lockScreen(of: phone.id).first?.alert,
                String(decoding: alert, as: UTF8.self).contains(phone.alertTitle)
            else { throw DemoFailure("\(phone.id) did not get its language's alert") }
        }
        guard done.counts.followers == phones.count, done.counts.accepted == phones.count, pushes == phones.count else {
            throw DemoFailure("the start counts \(done.counts), and \(pushes) pushes were sent")
        }
        report.step("what came of it", "\(done.counts)")
    }

    /// Two apps say that the card is there; the old phone's has an update token since its owner allowed it.
    private func confirm(_ app: GrandstandClient) async throws {
        for phone in phones.prefix(2) {
            guard let card = stage.simulator.lockScreen(of: phone.id).first else {
                throw DemoFailure("\(phone.id) shows nothing")
            }
            var body = ["eventKey": Self.key, "attributesType": Self.attributesType, "state": "active"]
            if phone.id == old.id {
                body["updateToken"] = try stage.simulator.allow(activity: card.number, on: phone.id)
            }
            try stage.expect(try await phone.send(app, "/activities/\(card.number)", body), 201)
        }
        let view: StartsView = try await stage.client.call("GET", Self.starts)
        guard view.counts.confirmed == 2 else { throw DemoFailure("two apps confirmed, not \(view.counts)") }
        report.step("two apps report the card", "\(view.counts.confirmed) confirmed; an old phone has a token now")
    }

    private func send(
        _ body: [String: Any], called name: String, reaching phones: ArraySlice<DemoPhone>
    ) async throws {
        _ = try await stage.broadcast(
            try JSONSerialization.data(withJSONObject: body, options: [.sortedKeys]), to: Self.key, called: name)
        report.step(name, try shown(#""argentina":1"#, by: phones))
    }

    /// - Throws: `DemoFailure` for a phone that does not show one card, with that in its content.
    private func shown(_ part: String, by phones: ArraySlice<DemoPhone>) throws -> String {
        for phone in phones {
            let cards = stage.simulator.lockScreen(of: phone.id)
            guard cards.count == 1, String(decoding: cards[0].contentState, as: UTF8.self).contains(part) else {
                throw DemoFailure("\(phone.id) should show one card with \(part), not \(cards)")
            }
        }
        return "\(phones.count) of \(self.phones.count) lock screens show it"
    }

    private var pushes: Int { stage.simulator.journal().count { $0.request.path.hasPrefix("/3/") } }

    private static func time(since start: ContinuousClock.Instant) -> String {
        (ContinuousClock.now - start).formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1)))
    }
}

private struct IssuedKey: Decodable {
    let secret: String
}

/// The parts of what has become of a start that the demo reads.
private struct StartsView: Decodable {
    struct Counts: Decodable, CustomStringConvertible {
        let followers: Int
        let accepted: Int
        let confirmed: Int
        let rejected: Int
        let unknown: Int
        let pending: Int

        var description: String {
            "\(followers) followers: \(accepted) accepted by APNs, \(confirmed) confirmed, \(rejected) rejected, "
                + "\(unknown) unknown, \(pending) pending"
        }
    }

    let state: String
    let counts: Counts
}
