internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandClient

/// Plays the final through the public API. Each proof reports its result; a wrong result stops the demo.
struct DemoMatch: Sendable {
    static let bundleID = "com.example.GrandstandDemo"

    let stage: DemoStage
    let event: DemoEvent
    let report: DemoReport

    func play() async throws {
        report.line("\n\(event.event.name)")
        var crowd = DemoCrowd(stage.simulator)
        try await declare()
        try await followChannels(&crowd)
        try await followTopic(&crowd)
        try await kickOff(&crowd)
        try await tell(&crowd)
        try await checkTheEnd()
        try await showQuota()
    }

    // MARK: Before the match

    private func declare() async throws {
        let organiser = stage.organiser
        var draft = event.event
        let type = draft.content ?? ""
        try await organiser.putApp(Self.bundleID, name: "Grandstand Demo")
        try await organiser.send(.putContent(type, of: Self.bundleID, json: event.contentType))
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
        try await organiser.send(.putEvent(event.eventKey, draft))
        report.proof("the event \(event.eventKey)", "declared for two audiences, with a start for tomorrow")
    }

    private func followChannels(_ crowd: inout DemoCrowd) async throws {
        report.now("Grandstand looks for a channel in Apple's list, because the answer to its creation was lost")
        for audience in try await stage.organiser.channels(of: event.eventKey).audiences {
            let found = try await stage.client.lookup(event.eventKey, in: .init(Self.bundleID, audience.environment))
            guard let environment = APNsEnvironment(rawValue: audience.environment.rawValue),
                let policy = StoragePolicy(rawValue: audience.storagePolicy.rawValue),
                let channelID = found.channelId, channelID == audience.channel.channelId,
                stage.simulator.channels(of: Self.bundleID, in: environment).map(\.id) == [channelID]
            else {
                throw PlayFailure("\(audience.environment) should have one channel, not \(found.channelId ?? "-")")
            }
            report.proof("an app looks it up in \(audience.environment)", "\(channelID), \(policy.rawValue)")
            try crowd.follow(channelID, in: environment, policy)
        }
        guard stage.simulator.journal().contains(where: { $0.fate == .dropped }) else {
            throw PlayFailure("no answer of APNs was lost")
        }
        report.proof("Apple's answer to a creation was lost", "found in Apple's list, so no channel exists twice")
    }

    private func followTopic(_ crowd: inout DemoCrowd) async throws {
        let started = ContinuousClock.now
        let issued = try await stage.organiser.send(
            .createKey(name: "app", scopes: [.device], bundleId: Self.bundleID))
        report.now("\(DemoCrowd.followers) phones register")
        try await crowd.register(event, .once(stage.address, key: issued.secret))
        report.proof(
            "\(DemoCrowd.followers) phones follow \((event.event.topics ?? []).joined(separator: ", "))",
            "registered in \(Self.time(since: started)) with a key of the scope device")
        let preview = try await stage.organiser.send(.startEvent(event.eventKey, dryRun: true))
        guard preview.counts.pending == DemoCrowd.followers, pushes == 0 else {
            throw PlayFailure("the preview counts \(preview.counts), and \(pushes) pushes were sent")
        }
        report.proof("a preview of the start", "\(preview.counts.pending) phones would get it; nothing was sent")
    }

    // MARK: The match

    private func kickOff(_ crowd: inout DemoCrowd) async throws {
        try crowd.setOnline(false)
        let asked = ContinuousClock.now
        try await stage.organiser.send(.startEvent(event.eventKey))
        let done = try await stage.organiser.poll("the start of \(event.eventKey)") {
            let report = try await stage.organiser.send(.getStart(event.eventKey))
            return report.state == .done ? report : nil
        }
        guard done.counts.followers == DemoCrowd.followers, done.counts.accepted == DemoCrowd.followers,
            pushes == DemoCrowd.followers
        else { throw PlayFailure("the start counts \(done.counts), and \(pushes) pushes were sent") }
        let cards = try crowd.started(with: ["Kick-off", "¡Empieza!"])
        report.proof(
            "kick-off by push, now instead of tomorrow",
            "\(cards.count) lock screens show it, in two languages, after \(Self.time(since: asked))")
        try crowd.setOnline(true)
    }

    /// Reports every state twice: the second report sends nothing.
    private func tell(_ crowd: inout DemoCrowd) async throws {
        let moments = event.broadcasts
        for (number, moment) in moments.enumerated() {
            if number == moments.count / 3 { try crowd.setOnline(false) }
            if number == moments.count * 2 / 3 {
                let late = crowd.count - crowd.online
                try crowd.setOnline(true)
                report.proof("\(late) phones come back after an hour", "those whose channel stores it show the newest")
            }
            report.now(moment.label)
            let state = GrandstandClient.StateDraft(
                contentState: moment.contentState, sequence: number + 1, final: moment.final ?? false)
            guard case .accepted(let accepted) = try await stage.organiser.send(.putState(event.eventKey, state)),
                case .unchanged = try await stage.organiser.send(.putState(event.eventKey, state)),
                accepted.outcome == (moment.final == true ? .end : moment.alert == nil ? .update : .rings)
            else { throw PlayFailure("\(moment.label): the state had the wrong result") }
            if moment.final == true { try await checkLookups() }
            for delivery in try await stage.settled(accepted, called: moment.label).deliveries {
                try checkWire(moment, requestID: delivery.apnsRequestId)
            }
            try crowd.expect(moment)
        }
        let rings = moments.count { $0.alert != nil }
        report.proof(
            "\(moments.count) states, each reported twice", "sent once each; \(rings) rang by the rules")
        report.proof("every one of \(crowd.count) lock screens", "was right after each state")
    }

    /// Checks that APNs got exactly the content that was sent.
    private func checkWire(_ moment: DemoEvent.Moment, requestID: String?) throws {
        let seen = stage.simulator.journal().last { entry in
            entry.request.headers.contains { $0.name == APNsHeader.requestID && $0.value == requestID }
        }
        let body = try seen.flatMap { try JSONSerialization.jsonObject(with: Data($0.request.body)) as? [String: Any] }
        guard seen?.status == 200, let content = (body?["aps"] as? [String: Any])?["content-state"],
            try DemoEvent.Moment.canonical(try JSONSerialization.data(withJSONObject: content))
                == DemoEvent.Moment.canonical(moment.contentState.bytes)
        else {
            throw PlayFailure("\(moment.label): APNs did not see its content state")
        }
    }

    // MARK: After the match

    /// Checks the lookups right after an end was accepted. The server that accepted the end must answer 410 at once,
    /// and another server on the same database within a second.
    private func checkLookups() async throws {
        let accepted = ContinuousClock.now
        let lookup = GrandstandClient.Call<GrandstandClient.Lookup>.lookup(
            event.eventKey, in: .init(Self.bundleID, .production))
        _ = try await stage.refusal(410, of: lookup, at: stage.client)
        while try await stage.other.exchange(lookup).status == 200, ContinuousClock.now - accepted < .seconds(1) {
            try await Task.sleep(for: .milliseconds(2))
        }
        let slug = try await stage.refusal(410, of: lookup, at: stage.other).slug
        let milliseconds = Int((ContinuousClock.now - accepted) / .milliseconds(1))
        report.proof("a lookup after the end", "410 \(slug), on another server after \(milliseconds) ms at most")
    }

    private func checkTheEnd() async throws {
        let update = GrandstandClient.BroadcastDraft(event: .update, contentState: try RawJSON(json: "{}"))
        let late = try await stage.refusal(409, of: .broadcast(to: event.eventKey, update), at: stage.client)
        report.proof("an update after the end", "409 \(late.slug)")
    }

    private func showQuota() async throws {
        let quotas = try await stage.organiser.send(.listQuotas()).items
        for quota in quotas {
            let listed = APNsEnvironment(rawValue: quota.environment.rawValue).map {
                stage.simulator.channels(of: Self.bundleID, in: $0).count
            }
            guard quota.used == 1, listed == 1 else {
                throw PlayFailure(
                    "the ledger counts \(quota.used) channels in \(quota.environment), APNs \(listed ?? 0)")
            }
        }
        report.proof(
            "the ledger and APNs agree",
            quotas.map { "\($0.used) of \($0.limit) channels in \($0.environment)" }.joined(separator: ", "))
    }

    private var pushes: Int { stage.simulator.journal().count { $0.request.path.hasPrefix("/3/") } }

    private static func time(since start: ContinuousClock.Instant) -> String {
        (ContinuousClock.now - start).formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1)))
    }
}
