internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandClient

/// Push to start: a thousand phones follow a team, and the match appears on their lock screens although nobody opens
/// the app.
struct DemoFollowers: Sendable {
    /// The number of steps in the report.
    static let steps = 10
    static let broadcasts = 2
    private static let count = 1_000
    private static let team = "team:argentina"
    private static let key = "copa-america-2024-final"
    private static let attributesType = "DemoAttributes"
    /// The alert for English phones and the alert for Spanish phones. The English alert is also the default.
    private static let alerts = [("en-GB", "Kick-off"), ("es-AR", "¡Empieza!")].map { (locale: $0.0, title: $0.1) }

    let stage: DemoStage
    let report: DemoReport
    private let phones: [Phone]

    init(stage: DemoStage, report: DemoReport) throws {
        self.stage = stage
        self.report = report
        phones = try (0..<Self.count).map { number in
            try Phone(
                "follower \(number)", app: DemoMatch.bundleID, in: .production, system: number == 0 ? "17.4" : "18.4",
                locale: Self.alerts[number % 2].locale, stage.simulator)
        }
    }

    /// A phone with iOS 17, which has no channels.
    private var old: Phone { phones[0] }
    private var travellers: ArraySlice<Phone> { phones.suffix(2) }

    func play() async throws {
        report.heading("Push to start: a thousand phones follow Argentina")
        let app = try await appsClient()
        try await register(app)
        try await declare()
        for phone in travellers { stage.simulator.setOnline(false, device: phone.id) }
        report.step("two phones go offline", "")
        try await kickOff()
        try await confirm(app)
        try await send(
            .init(
                event: .update, contentState: try RawJSON(json: #"{"argentina":1,"colombia":0,"minute":112}"#),
                alert: .alert(title: "¡Gol!", body: "Lautaro Martínez, 1–0")),
            called: "112'  Lautaro Martínez, 1–0", reaching: phones.dropLast(2))
        for phone in travellers { stage.simulator.setOnline(true, device: phone.id) }
        report.step("the two are back", try shown(#""argentina":1"#, by: phones[...]))
        try await send(
            .init(event: .end, contentState: try RawJSON(json: #"{"argentina":1,"colombia":0,"minute":120}"#)),
            called: "the end", reaching: phones[...])
    }

    private func appsClient() async throws -> GrandstandClient {
        let issued = try await stage.organiser.send(
            .createKey(name: "app", scopes: [.device], bundleId: DemoMatch.bundleID))
        report.step("a key that ships in the app", "scope device, for \(DemoMatch.bundleID)")
        return .once(stage.address, key: issued.secret)
    }

    private func register(_ app: GrandstandClient) async throws {
        let started = ContinuousClock.now
        try await forEach(phones, atMost: 32) { phone in
            try await phone.follow([Self.team], attributesType: Self.attributesType, app)
        }
        report.step("\(phones.count) phones follow \(Self.team)", "registered in \(Self.time(since: started))")
    }

    private func declare() async throws {
        let body = GrandstandClient.LocalizedText.text("Argentina – Colombia")
        let declaration = #"""
            {"versions": [{"name": "1.0", "schema": {
              "type": "object", "required": ["argentina", "colombia", "minute"],
              "properties": {
                "argentina": {"type": "integer"}, "colombia": {"type": "integer"}, "minute": {"type": "integer"}}}}]}
            """#
        try await stage.organiser.send(
            .putContent(Self.attributesType, of: DemoMatch.bundleID, json: try RawJSON(json: declaration)))
        try await stage.organiser.send(
            .putEvent(
                Self.key,
                .init(
                    name: "Argentina – Colombia",
                    audiences: [
                        .init(
                            bundleId: DemoMatch.bundleID, environment: .production,
                            storagePolicy: .mostRecentMessageStored)
                    ], topics: [Self.team],
                    start: .init(
                        at: Date(timeIntervalSinceNow: 86_400), attributesType: Self.attributesType,
                        attributes: try RawJSON(json: #"{"away":"Colombia","home":"Argentina"}"#),
                        contentState: try RawJSON(json: #"{"argentina":0,"colombia":0,"minute":0}"#),
                        alert: .alert(title: .text(Self.alerts[0].title), body: body),
                        alertsByLocale: ["es": .alert(title: .text(Self.alerts[1].title), body: body)]),
                    content: Self.attributesType)))
        report.step("event \(Self.key)", "declared, with its start for tomorrow")
        let preview = try await stage.organiser.send(.startEvent(Self.key, dryRun: true))
        guard preview.counts.pending == phones.count, pushes == 0 else {
            throw PlayFailure("the preview counts \(preview.counts), and \(pushes) pushes were sent")
        }
        report.step("a preview", "\(preview.counts.pending) phones would get it; nothing was sent")
    }

    private func kickOff() async throws {
        let asked = ContinuousClock.now
        try await stage.organiser.send(.startEvent(Self.key))
        let done = try await stage.organiser.poll("the start of \(Self.key)") {
            let report = try await stage.organiser.send(.getStart(Self.key))
            return report.state == .done ? report : nil
        }
        let time = Self.time(since: asked)
        report.step(
            "kick-off, now instead of tomorrow", try shown(#""minute":0"#, by: phones.dropLast(2)) + ", after \(time)")
        for phone in phones.dropLast(2) {
            guard let alert = stage.simulator.lockScreen(of: phone.id).first?.alert,
                String(decoding: alert, as: UTF8.self).contains(Self.alerts[phone.locale == "es-AR" ? 1 : 0].title)
            else { throw PlayFailure("\(phone.id) did not get its language's alert") }
        }
        guard done.counts.followers == phones.count, done.counts.accepted == phones.count, pushes == phones.count else {
            throw PlayFailure("the start counts \(done.counts), and \(pushes) pushes were sent")
        }
        let counts = done.counts
        report.step(
            "what came of it",
            "\(counts.followers) followers: \(counts.accepted) accepted by APNs, \(counts.confirmed) confirmed, "
                + "\(counts.rejected) rejected, \(counts.unknown) unknown, \(counts.pending) pending")
    }

    /// Two apps report the activity. The old phone also gets an update token, because its owner has allowed the
    /// activity.
    private func confirm(_ app: GrandstandClient) async throws {
        for phone in phones.prefix(2) {
            guard let card = stage.simulator.lockScreen(of: phone.id).first else {
                throw PlayFailure("\(phone.id) shows nothing")
            }
            let token = phone.id == old.id ? try stage.simulator.allow(activity: card.number, on: phone.id) : nil
            try await phone.report(card, of: Self.key, updateToken: token, app)
        }
        let confirmed = try await stage.organiser.send(.getStart(Self.key)).counts.confirmed
        guard confirmed == 2 else { throw PlayFailure("two apps confirmed, not \(confirmed)") }
        report.step("two apps report the card", "\(confirmed) confirmed; an old phone has a token now")
    }

    private func send(
        _ draft: GrandstandClient.BroadcastDraft, called name: String, reaching phones: ArraySlice<Phone>
    ) async throws {
        let accepted = try await stage.organiser.send(.broadcast(to: Self.key, draft))
        _ = try await stage.settled(accepted, called: name)
        report.step(name, try shown(#""argentina":1"#, by: phones))
    }

    /// - Throws: `PlayFailure` for a phone that does not show exactly one activity whose content contains `part`.
    private func shown(_ part: String, by phones: ArraySlice<Phone>) throws -> String {
        for phone in phones {
            let cards = stage.simulator.lockScreen(of: phone.id)
            guard cards.count == 1, String(decoding: cards[0].contentState, as: UTF8.self).contains(part) else {
                throw PlayFailure("\(phone.id) should show one card with \(part), not \(cards)")
            }
        }
        return "\(phones.count) of \(self.phones.count) lock screens show it"
    }

    private var pushes: Int { stage.simulator.journal().count { $0.request.path.hasPrefix("/3/") } }

    private static func time(since start: ContinuousClock.Instant) -> String {
        (ContinuousClock.now - start).formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1)))
    }
}
