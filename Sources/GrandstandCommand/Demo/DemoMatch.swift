internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandServer
internal import JSON

/// The match of the demo, as Demo/Data has it.
struct DemoEvent: Sendable, Decodable {
    /// A moment of the match: the state that is reported, and the alert that the content type's rules make of it.
    struct Moment: Sendable, Decodable {
        let label: String
        let contentState: RawJSON
        let final: Bool?
        let alert: RawJSON?

        /// Whether a card shows this moment.
        ///
        /// - Parameter rings: whether the card must have this moment's alert, too.
        func isShown(by card: APNsSimulator.Activity, rings: Bool) throws -> Bool {
            guard card.state == (final == true ? .ended : .active),
                try Self.canonical(Data(card.contentState.bytes)) == Self.canonical(contentState.bytes)
            else { return false }
            guard rings, let alert else { return true }
            return try card.alert.map { try Self.canonical(Data($0.bytes)) } == Self.canonical(alert.bytes)
        }

        /// JSON text that is the same for equal values.
        static func canonical(_ json: Data) throws -> Data {
            try JSONSerialization.data(
                withJSONObject: try JSONSerialization.jsonObject(with: json), options: [.sortedKeys])
        }
    }

    let eventKey: String
    /// What is declared. Its start has no time.
    let event: GrandstandClient.EventDraft
    /// The declaration of the content type that `event` names.
    let contentType: RawJSON
    let broadcasts: [Moment]

    /// - Throws: `DecodingError` for a file in the wrong form.
    static func load() throws -> DemoEvent {
        let text = EmbeddedFiles.texts["world-cup-final-2022.json"] ?? ""
        return try JSONValue(parsing: Array(text.utf8)).decode(DemoEvent.self)
    }
}

/// Plays the final through the public API. Each proof reports its result; a wrong result stops the demo.
struct DemoMatch {
    /// A phone that follows the match.
    private struct Viewer {
        let phone: Phone
        /// Whether its channel stores the newest message.
        let stores: Bool
        /// Whether it has no network for a while.
        let isOffline: Bool
        /// The alert that starts its card by push; `nil`: its app starts the card.
        var title: String?
        var expected: DemoEvent.Moment?
    }

    private static let bundleID = "com.example.GrandstandDemo"
    private static let followerCount = 1_000

    let stage: DemoSetup
    let event: DemoEvent
    let report: DemoReport
    private var viewers: [Viewer] = []

    init(stage: DemoSetup, event: DemoEvent, report: DemoReport) {
        (self.stage, self.event, self.report) = (stage, event, report)
    }

    mutating func play() async throws {
        report.line("\n\(event.event.name)")
        try await declare()
        try await followChannels()
        try await followTopic()
        try await kickOff()
        try await sendStates()
        try await checkTheEnd()
        try await checkQuota()
    }

    // MARK: Before the match

    private func declare() async throws {
        var draft = event.event
        let type = draft.content ?? ""
        let (team, key) = (SimulatorIdentity.teamID, SimulatorIdentity.keyID)
        try await stage.client.send(.putApp(Self.bundleID, .init(name: "Grandstand Demo", teamId: team, keyId: key)))
        try await stage.client.send(.putContent(type, of: Self.bundleID, json: event.contentType))
        report.proof("the app \(Self.bundleID)", "registered with capitals; \(type) has the rules for alerts")
        // APNs creates this channel, but the answer does not arrive. The path is in lower case, because APNs refuses the
        // one with capitals before.
        let path = "/1/apps/\(Self.bundleID.lowercased())/channels"
        try stage.simulator.addFaults(
            """
            {"faults": [{"match": {"operation": "create", "path": "\(path)", "environment": "production"},
                "action": "lose", "by": "reset", "times": 1}]}
            """)
        draft.start?.at = Date(timeIntervalSinceNow: 86_400)
        try await stage.client.send(.putEvent(event.eventKey, draft))
        report.proof("the event \(event.eventKey)", "declared for two audiences, with a start for tomorrow")
    }

    /// Two phones of each environment look the channel up and follow it. One of them loses its network for a while.
    private mutating func followChannels() async throws {
        report.progress("Grandstand looks for a channel in Apple's list, because the answer to its creation was lost")
        let declared = try await poll("the channels") {
            let shown = try await stage.client.send(.getEvent(event.eventKey))
            return shown.audiences.allSatisfy { $0.channel.state == .active } ? shown : nil
        }
        for audience in declared.audiences {
            let found = try await stage.client.lookup(event.eventKey, in: .init(Self.bundleID, audience.environment))
            guard let environment = APNsEnvironment(rawValue: audience.environment.rawValue),
                let channelID = found.channelId, channelID == audience.channel.channelId,
                stage.simulator.channels(of: Self.bundleID, in: environment).map(\.id) == [channelID]
            else {
                throw ExitError("\(audience.environment) should have one channel, not \(found.channelId ?? "-")")
            }
            report.proof(
                "an app looks it up in \(audience.environment)", "\(channelID), \(audience.storagePolicy.rawValue)")
            for name in ["sofa", "commuter"] {
                let phone = try Phone(
                    "\(environment.rawValue) \(name)", app: Self.bundleID, in: environment, stage.simulator)
                _ = try stage.simulator.startActivity(
                    on: phone.id, of: Self.bundleID, channelID: channelID, attributesType: event.event.content ?? "")
                let isStored = audience.storagePolicy == .mostRecentMessageStored
                viewers.append(Viewer(phone: phone, stores: isStored, isOffline: name == "commuter"))
            }
        }
        guard stage.simulator.journal().contains(where: { $0.fate == .dropped }) else {
            throw ExitError("no answer of APNs was lost")
        }
        report.proof("Apple's answer to a creation was lost", "found in Apple's list, so no channel exists twice")
    }

    /// A thousand phones follow the event's topic. The last two lose their network for a while.
    private mutating func followTopic() async throws {
        let started = ContinuousClock.now
        let issued = try await stage.client.send(
            .createKey(name: "app", scopes: [.device], bundleId: Self.bundleID))
        report.progress("\(Self.followerCount) phones register")
        let app = GrandstandClient(server: stage.serverURL, key: issued.secret)
        let (topics, type) = (event.event.topics ?? [], event.event.content ?? "")
        let followers = try (0..<Self.followerCount).map { number -> Viewer in
            let (locale, title) = [("en-GB", "Kick-off"), ("es-AR", "¡Empieza!")][number % 2]
            let phone = try Phone(
                "follower \(number)", app: Self.bundleID, in: .production, locale: locale, stage.simulator)
            return Viewer(phone: phone, stores: true, isOffline: number >= Self.followerCount - 2, title: title)
        }
        try await inParallel(followers.map(\.phone), atMost: 32) { phone in
            try await phone.follow(topics, attributesType: type, app)
        }
        viewers += followers
        report.proof(
            "\(Self.followerCount) phones follow \(topics.joined(separator: ", "))",
            "registered in \(Self.time(since: started)) with a key of the scope device")
    }

    // MARK: The match

    private func kickOff() async throws {
        setOnline(false)
        let asked = ContinuousClock.now
        try await stage.client.send(.startEvent(event.eventKey))
        let done = try await poll("the start") {
            let report = try await stage.client.send(.getStart(event.eventKey))
            return report.state == .done ? report : nil
        }
        guard done.counts.accepted == Self.followerCount, pushes == Self.followerCount else {
            throw ExitError("the start counts \(done.counts), and \(pushes) pushes were sent")
        }
        let started = viewers.filter { $0.title != nil && !$0.isOffline }
        for member in started {
            let cards = stage.simulator.lockScreen(of: member.phone.id)
            guard cards.count == 1, cards[0].alert?.text.contains(member.title ?? "") == true else {
                throw ExitError("\(member.phone.id) should show one card with its language's alert, not \(cards)")
            }
        }
        report.proof(
            "kick-off by push, now instead of tomorrow",
            "\(started.count) lock screens show it, in two languages, after \(Self.time(since: asked))")
        setOnline(true)
    }

    /// Reports every state twice: the second report sends nothing. Checks every lock screen after each.
    private mutating func sendStates() async throws {
        let moments = event.broadcasts
        let (away, back) = (moments.count / 3, moments.count * 2 / 3)
        for (number, moment) in moments.enumerated() {
            if number == away { setOnline(false) }
            if number == back {
                setOnline(true)
                for place in viewers.indices where viewers[place].isOffline && viewers[place].stores {
                    viewers[place].expected = moments[number - 1]
                }
                try checkLockScreens(isLateAway: false)
                report.proof(
                    "\(viewers.count(where: \.isOffline)) phones come back after an hour",
                    "those whose channel stores it show the newest")
            }
            report.progress(moment.label)
            let state = GrandstandClient.StateDraft(
                contentState: moment.contentState, sequence: number + 1, final: moment.final ?? false)
            guard case .accepted(let accepted) = try await stage.client.send(.putState(event.eventKey, state)),
                case .unchanged = try await stage.client.send(.putState(event.eventKey, state)),
                accepted.outcome == (moment.final == true ? .end : moment.alert == nil ? .update : .rings)
            else { throw ExitError("\(moment.label): the state had the wrong result") }
            let done = try await poll("the end of \(moment.label)") {
                let broadcast = try await stage.client.send(.getBroadcast(accepted.id))
                return broadcast.state == .done ? broadcast : nil
            }
            for delivery in done.deliveries where delivery.state != .accepted {
                throw ExitError("\(moment.label): \(delivery.state) in \(delivery.environment)")
            }
            let isLateAway = (away..<back).contains(number)
            for place in viewers.indices where !(isLateAway && viewers[place].isOffline) {
                viewers[place].expected = moment
            }
            try checkLockScreens(isLateAway: isLateAway)
        }
        let rings = moments.count { $0.alert != nil }
        report.proof("\(moments.count) states, each reported twice", "sent once each; \(rings) rang by the rules")
        report.proof("every one of \(viewers.count) lock screens", "was right after each state")
    }

    /// The network of the late phones goes or comes back.
    private func setOnline(_ isOnline: Bool) {
        for member in viewers where member.isOffline { stage.simulator.setOnline(isOnline, device: member.phone.id) }
    }

    /// - Parameter isLateAway: whether the late phones have no network, so that they did not ring.
    /// - Throws: `ExitError` for the first lock screen with wrong content.
    private func checkLockScreens(isLateAway: Bool) throws {
        for member in viewers {
            guard let expected = member.expected else { continue }
            let cards = stage.simulator.lockScreen(of: member.phone.id)
            guard cards.count == 1, try expected.isShown(by: cards[0], rings: !(isLateAway && member.isOffline)) else {
                throw ExitError("\(member.phone.id) should show \(expected.label), not \(cards)")
            }
        }
    }

    // MARK: After the match

    private func checkTheEnd() async throws {
        let lookup = GrandstandClient.Call<GrandstandClient.Lookup>.lookup(
            event.eventKey, in: .init(Self.bundleID, .production))
        let over = try await refusal(410, of: lookup)
        report.proof("a lookup after the end", "410 \(over.slug)")
        let update = GrandstandClient.BroadcastDraft(event: .update, contentState: try RawJSON(json: "{}"))
        let late = try await refusal(409, of: .broadcast(to: event.eventKey, update))
        report.proof("an update after the end", "409 \(late.slug)")
    }

    private func checkQuota() async throws {
        let quotas = try await stage.client.send(.listQuotas()).items
        for quota in quotas {
            let listed = APNsEnvironment(rawValue: quota.environment.rawValue).map {
                stage.simulator.channels(of: Self.bundleID, in: $0).count
            }
            guard quota.used == 1, listed == 1 else {
                throw ExitError(
                    "the ledger counts \(quota.used) channels in \(quota.environment), APNs \(listed ?? 0)")
            }
        }
        report.proof(
            "the ledger and APNs agree",
            quotas.map { "\($0.used) of \($0.limit) channels in \($0.environment)" }.joined(separator: ", "))
    }

    // MARK: Steps

    /// Makes a call that the server must refuse with `status`.
    private func refusal<Value>(_ status: Int, of call: GrandstandClient.Call<Value>) async throws -> ServerProblem {
        let answer = try await stage.client.exchange(call)
        guard answer.status == status else {
            throw ExitError("the server answered \(answer.status), not \(status): \(ServerProblem(answer))")
        }
        return ServerProblem(answer)
    }

    /// Asks until there is a value. The longest work is to find a channel whose creation was not answered: some seconds.
    private func poll<Value>(_ what: String, _ ask: () async throws -> Value?) async throws -> Value {
        let deadline = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < deadline {
            if let value = try await ask() { return value }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw ExitError("\(what): not there after 30 seconds")
    }

    private var pushes: Int { stage.simulator.journal().count { $0.request.path.hasPrefix("/3/") } }

    static func time(since start: ContinuousClock.Instant) -> String {
        (ContinuousClock.now - start).formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1)))
    }
}
