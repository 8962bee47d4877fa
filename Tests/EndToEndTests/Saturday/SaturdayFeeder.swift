internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandClient
internal import GrandstandTestKit

@testable internal import GrandstandCommand

/// Feeds one match, and knows which state of the match everybody must have in the end.
struct SaturdayFeeder {
    /// A phone and the content that it must show.
    struct Spectator: Sendable {
        let phone: String
        let variant: String?
        /// Whether a push starts the phone's activity.
        var isStarted = false
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
        try await follow("sofa")
        try await follow("commuter")
        if script.isStarted { try await register("follower") }
        try await begin()
        let half = script.steps.count / 2
        for (index, step) in script.steps.enumerated() {
            let wait = start.addingTimeInterval(seconds * Double(index + 1) / Double(script.steps.count + 1))
                .timeIntervalSinceNow
            if wait > 0 { try await Task.sleep(for: .seconds(wait)) }
            if index == 1 { setCommutersOnline(false) }
            if index == half {
                setCommutersOnline(true)
                try await follow("latecomer")
                if script.isStarted { try await register("late follower") }
            }
            try await perform(step, index)
        }
        if script.isStarted, !script.isOver { try await startIsDone() }
        for id in accepted { try await ground.organiser.settled(id) }
    }

    // MARK: Before the match

    private func declare() async throws {
        let draft = GrandstandClient.EventDraft(
            name: "Match \(script.number)", startsAt: Date(timeIntervalSinceNow: script.isMovedFirst ? 3_600 : 0),
            audiences: script.variants.map {
                .init(
                    bundleId: SaturdayGround.bundleID, environment: .production, variant: $0,
                    storagePolicy: script.policy)
            }, topics: [script.topic],
            start: script.isStarted
                ? .init(
                    attributesType: SaturdayGround.attributesType, attributes: try RawJSON(json: "{}"),
                    contentState: try content(0, nil), alert: .alert(title: "Kick-off", body: "Now")) : nil)
        let call = GrandstandClient.Call<GrandstandClient.Event>.putEvent(script.key, draft).ifNoneExists()
        try await ground.change(script.key, script.declaring, turn: script.number, { _ in call }, isDone: { _ in true })
        try await ground.organiser.channels(of: script.key)
    }

    /// Schedules a message relative to the start of the match, and moves the start to about a second from now. The
    /// message must be sent relative to the new start, and not earlier.
    private mutating func begin() async throws {
        guard script.isMovedFirst else { return }
        let id = try await send(.update, script.declaring, sendAt: .afterStart(.init(afterStart: 1)))
        let startsAt = try await move(by: 1, script.declaring)
        try await ground.organiser.settled(id)
        let (match, number) = (script.number, newest)
        let early = ground.simulator.arrivals.filter {
            $0.match == match && $0.number == number && $0.at < startsAt.addingTimeInterval(1)
        }
        ground.tally.expect(early.isEmpty, "\(script.key): the message that counts from the start went before it")
    }

    /// - Returns: the new start of the match.
    @discardableResult
    private func move(by seconds: TimeInterval, _ step: SaturdayScript.Step) async throws -> Date {
        ground.tally.count("matches moved")
        // The new start has whole seconds, because the patch contains whole seconds.
        let startsAt = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 + seconds).rounded(.up))
        let patch = try RawJSON(json: #"{"startsAt": "\#(startsAt.formatted(.iso8601))"}"#)
        try await ground.change(script.key, step, turn: script.number) { tag in
            let call = GrandstandClient.Call<GrandstandClient.Event>.patchEvent(script.key, patch)
            return tag.map { call.ifMatch($0) } ?? call
        } isDone: {
            $0.startsAt == startsAt
        }
        return startsAt
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
        case .correct:
            ground.tally.count("corrections")
            try await send(.update, step, scores[max(0, newest - 1)])
        case .postpone:
            try await move(by: 86_400, step)
            let state = try await ground.organiser.send(.getEvent(script.key)).state
            ground.tally.expect(state == .scheduled, "\(script.key) was postponed and is \(state)")
        case .end:
            // An activity that a push starts after the `end` would never end.
            if script.isStarted { try await startIsDone() }
            let id = try await send(.end, step)
            try await ground.organiser.settled(id)
        case .reopen: try await reopen(step)
        }
    }

    private func startIsDone() async throws {
        try await until("the start of \(script.key)", within: .seconds(120)) {
            let report = try await ground.organiser.send(.getStart(script.key))
            let registered = spectators.count(where: \.isStarted)
            return report.state == .done && report.counts.followers == registered && report.counts.pending == 0
        }
    }

    @discardableResult
    private mutating func send(
        _ kind: GrandstandClient.BroadcastKind, _ step: SaturdayScript.Step, _ score: (home: Int, away: Int)? = nil,
        rings: Bool = false, sendAt: GrandstandClient.SendTime? = nil
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
                byVariant: byVariant.isEmpty ? nil : byVariant, sendAt: sendAt))
        let id = try await ground.make(call, step, turn: script.number + newest) { $0.id }.id
        accepted.append(id)
        if rings { alerts.append(alert) }
        return id
    }

    /// Takes the `end` back, because it was a mistake. People whose phones showed the `end` open the app again.
    private mutating func reopen(_ step: SaturdayScript.Step) async throws {
        ground.tally.count("ends taken back")
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
                ).result.get().value
            }
            let phone = "\(name) \(script.number) \(variant ?? "")"
            try ground.simulator.addDevice(phone, in: .production)
            try ground.simulator.startActivity(
                on: phone, of: SaturdayGround.bundleID, channelID: found.channelId ?? "",
                attributesType: SaturdayGround.attributesType,
                contentState: .init(Array(found.contentState?.bytes ?? Data("{}".utf8))),
                timestamp: found.timestamp ?? 0)
            spectators.append(Spectator(phone: phone, variant: variant))
        }
    }

    /// People follow the team, and a push starts their activities.
    private mutating func register(_ name: String) async throws {
        for number in 0..<2 {
            let phone = try Phone(
                "\(name) \(script.number) \(number)", app: SaturdayGround.bundleID, in: .production, ground.simulator)
            try await phone.follow([script.topic], attributesType: SaturdayGround.attributesType, ground.phones)
            spectators.append(Spectator(phone: phone.id, variant: nil, isStarted: true))
        }
    }

    private func setCommutersOnline(_ isOnline: Bool) {
        for spectator in spectators where spectator.phone.hasPrefix("commuter") {
            ground.simulator.setOnline(isOnline, device: spectator.phone)
        }
    }
}
