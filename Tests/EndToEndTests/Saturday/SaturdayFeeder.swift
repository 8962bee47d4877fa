internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandClient
internal import GrandstandTestKit

/// Feeds one match, and knows which state of the match everybody must have in the end.
struct SaturdayFeeder {
    /// A phone and the content that it must show.
    struct Spectator: Sendable {
        let phone: String
        let variant: String?
        /// Whether the phone got the `end` that was taken back.
        var sawMistake = false
    }

    let script: SaturdayScript
    private let ground: SaturdayGround
    private(set) var spectators: [Spectator] = []
    /// Broadcasts that were accepted, the newest last.
    private(set) var accepted: [String] = []
    /// The bodies of the alerts that were accepted.
    private(set) var alerts: [String] = []
    /// The numbers of the newest message and of the `end` that was taken back.
    private(set) var newest = 0
    private(set) var mistake: Int?
    private var scores: [(home: Int, away: Int)] = [(0, 0)]

    init(_ script: SaturdayScript, on ground: SaturdayGround) {
        self.script = script
        self.ground = ground
    }

    /// The content of a message for an audience, as it was sent.
    func content(_ number: Int, _ variant: String?) throws -> RawJSON {
        let score = scores[number]
        return try RawJSON(
            json: #"{"\#(Mark.member)":[\#(script.number),\#(number)],"home":\#(score.home),"away":\#(score.away)"#
                + (variant.map { #","variant":"\#($0)"}"# } ?? "}"))
    }

    /// - Parameter seconds: how long the match takes. Its steps come at equal intervals.
    mutating func play(for seconds: TimeInterval) async throws {
        let start = Date()
        try await declare()
        for name in ["sofa", "commuter"] { try await follow(name) }
        let half = script.steps.count / 2
        for (index, step) in script.steps.enumerated() {
            let wait = start.addingTimeInterval(seconds * Double(index + 1) / Double(script.steps.count + 1))
                .timeIntervalSinceNow
            if wait > 0 { try await Task.sleep(for: .seconds(wait)) }
            if index == 1 { setCommutersOnline(false) }
            if index == half {
                setCommutersOnline(true)
                try await follow("latecomer")
            }
            try await perform(step, index)
        }
        for id in accepted { try await ground.organiser.settled(id) }
    }

    private func declare() async throws {
        let draft = GrandstandClient.EventDraft(
            name: "Match \(script.number)", startsAt: Date(),
            audiences: script.variants.map {
                .init(
                    bundleId: SaturdayGround.bundleID, environment: .production, variant: $0,
                    storagePolicy: script.policy)
            })
        _ = try await ground.make(.putEvent(script.key, draft), script.declaring, turn: script.number) { $0.key }
        try await ground.organiser.channels(of: script.key)
    }

    // MARK: Steps

    private mutating func perform(_ step: SaturdayScript.Step, _ index: Int) async throws {
        let score = scores[newest]
        switch step.deed {
        case .goal:
            try await send(
                .update, step, index.isMultiple(of: 2) ? (score.home + 1, score.away) : (score.home, score.away + 1),
                rings: true)
        case .update: try await send(.update, step)
        case .correct: try await send(.update, step, scores[max(0, newest - 1)])
        case .end: try await ground.organiser.settled(try await send(.end, step))
        case .reopen: try await reopen(step)
        }
    }

    @discardableResult
    private mutating func send(
        _ kind: GrandstandClient.BroadcastKind, _ step: SaturdayScript.Step, _ score: (home: Int, away: Int)? = nil,
        rings: Bool = false
    ) async throws -> String {
        scores.append(score ?? scores[newest])
        newest = scores.count - 1
        let alert = "\(script.number).\(newest)"
        let byVariant = try Dictionary(
            uniqueKeysWithValues: script.variants.compactMap(\.self).map { variant in
                (variant, GrandstandClient.VariantContent(contentState: try content(newest, variant)))
            })
        let call = GrandstandClient.Call<GrandstandClient.Broadcast>.broadcast(
            to: script.key,
            .init(
                event: kind, contentState: try content(newest, nil),
                alert: rings ? .alert(title: "Goal", body: .text(alert)) : nil,
                byVariant: byVariant.isEmpty ? nil : byVariant))
        let id = try await ground.make(call, step, turn: script.number + newest) { $0.id }.id
        accepted.append(id)
        if rings { alerts.append(alert) }
        return id
    }

    /// Takes the `end` back, because it was a mistake. People whose phones showed the `end` open the app again.
    private mutating func reopen(_ step: SaturdayScript.Step) async throws {
        let answer = try await ground.make(.reopenEvent(script.key), step, turn: script.number) { $0.broadcasts }
        mistake = newest
        for index in spectators.indices { spectators[index].sawMistake = true }
        // An update that the `end` had superseded may be sent after all. The answer then contains its ID, which is
        // already in `accepted`.
        accepted += answer.broadcasts.filter { !accepted.contains($0) }
        try await follow("again")
    }

    // MARK: Phones

    /// For each audience, a person opens the app. The app looks up the channel and starts an activity.
    private mutating func follow(_ name: String) async throws {
        for variant in script.variants {
            let found = try await until("a lookup of \(script.key)", within: .seconds(120)) {
                try? await ground.organiser.decide(
                    .lookup(script.key, in: SaturdayGround.app, include: .contentState, variant: variant)
                ).get().value
            }
            let phone = "\(name) \(script.number) \(variant ?? "")"
            try ground.simulator.addDevice(phone, in: .production)
            try ground.simulator.startActivity(
                on: phone, of: SaturdayGround.bundleID, channelID: found.channelId ?? "",
                attributesType: "MatchAttributes",
                contentState: .init(Array(found.contentState?.bytes ?? Data("{}".utf8))),
                timestamp: found.timestamp ?? 0)
            spectators.append(Spectator(phone: phone, variant: variant))
        }
    }

    private func setCommutersOnline(_ isOnline: Bool) {
        for spectator in spectators where spectator.phone.hasPrefix("commuter") {
            ground.simulator.setOnline(isOnline, device: spectator.phone)
        }
    }
}
