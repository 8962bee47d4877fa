internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandClient

/// Plays the events through the public API. Each step reports its result; a wrong result stops the demo.
struct DemoMatch: Sendable {
    static let bundleID = "com.example.GrandstandDemo"

    let stage: DemoStage
    let events: [DemoEvent]
    let report: DemoReport

    /// The number of steps in the report for `events`.
    static func steps(for events: [DemoEvent]) -> Int {
        1 + events.count + events.reduce(0) { $0 + 1 + audiences(0).count * 3 + $1.broadcasts.count + 2 + 3 } + 1
    }

    /// Both environments, with different storage policies. For the second event the two policies are swapped.
    private static func audiences(_ index: Int) -> [(environment: APNsEnvironment, policy: StoragePolicy)] {
        index.isMultiple(of: 2)
            ? [(.development, .noMessageStored), (.production, .mostRecentMessageStored)]
            : [(.development, .mostRecentMessageStored), (.production, .noMessageStored)]
    }

    func play() async throws {
        try await registerApp()
        var spectators = try DemoSpectators(simulator: stage.simulator)
        for (index, event) in events.enumerated() {
            report.heading(event.name)
            try await create(event, Self.audiences(index), for: &spectators)
            for broadcast in event.broadcasts {
                if let news = try spectators.beforeBroadcast(ofTotal: event.broadcasts.count) {
                    try spectators.check()
                    report.step(news, "lock screens as they should be")
                }
                try await send(broadcast, of: event, to: &spectators)
            }
            try await checkTheEnd(of: event)
        }
        report.heading("Quota")
        try await showQuota()
    }

    private func registerApp() async throws {
        try await stage.organiser.putApp(Self.bundleID, name: "Grandstand Demo")
        report.step("app \(Self.bundleID)", "registered; its ID has capitals")
        for event in events {
            let (name, declaration) = event.contentType
            try await stage.organiser.send(.putContent(name, of: Self.bundleID, json: declaration))
            report.step(
                "content type \(name)", event.isFed ? "declared, with the changes that send an alert" : "declared")
        }
    }

    private func create(
        _ event: DemoEvent, _ audiences: [(environment: APNsEnvironment, policy: StoragePolicy)],
        for spectators: inout DemoSpectators
    ) async throws {
        try await stage.organiser.send(
            .putEvent(
                event.key,
                .init(
                    name: event.name, kind: event.kind,
                    audiences: audiences.map { audience in
                        .init(
                            bundleId: Self.bundleID, environment: .init(rawValue: audience.environment.rawValue),
                            storagePolicy: .init(rawValue: audience.policy.rawValue))
                    }, content: event.contentType.name)))
        report.step("event \(event.key)", "declared for \(audiences.count) audiences")

        let shown = try await stage.organiser.channels(of: event.key)
        for audience in shown.audiences {
            report.step(
                "channel in \(audience.environment), \(audience.storagePolicy)",
                "APNs: 201 \(audience.channel.channelId ?? "")")
        }
        for audience in shown.audiences {
            let found = try await stage.client.lookup(
                event.key, in: .init(Self.bundleID, audience.environment))
            guard let environment = APNsEnvironment(rawValue: audience.environment.rawValue),
                let policy = StoragePolicy(rawValue: audience.storagePolicy.rawValue),
                let channelID = found.channelId, channelID == audience.channel.channelId,
                stage.simulator.channels(of: Self.bundleID, in: environment).contains(where: { $0.id == channelID })
            else {
                throw PlayFailure("lookup of \(event.key) answered \(found.channelId ?? "-"), which APNs does not list")
            }
            report.step("an app looks it up in \(audience.environment)", channelID)
            try spectators.follow(channelID, of: Self.bundleID, in: environment, policy)
            report.step("two phones follow it", "a sofa's, and a commuter's")
        }
    }

    private func send(
        _ broadcast: DemoEvent.Broadcast, of event: DemoEvent, to spectators: inout DemoSpectators
    ) async throws {
        let accepted = try await event.isFed ? tell(broadcast, of: event) : post(broadcast, to: event)
        if broadcast.isEnd { try await checkLookups(afterTheEndOf: event) }
        let done = try await stage.settled(accepted, called: broadcast.label)
        for delivery in done.deliveries { try checkWire(broadcast, requestID: delivery.apnsRequestId) }
        spectators.expect(broadcast)
        try spectators.check()
        report.step(
            broadcast.label,
            "APNs: " + done.deliveries.map { "200 in \($0.environment)" }.joined(separator: ", ")
                + "; \(spectators.upToDate) of \(spectators.count) phones show it")
    }

    private func post(
        _ broadcast: DemoEvent.Broadcast, to event: DemoEvent
    ) async throws -> GrandstandClient.Broadcast {
        try await stage.organiser.send(.broadcast(to: event.key, json: broadcast.body))
    }

    /// Reports the state twice: the second report sends nothing.
    private func tell(
        _ broadcast: DemoEvent.Broadcast, of event: DemoEvent
    ) async throws -> GrandstandClient.Broadcast {
        let state = GrandstandClient.StateDraft(
            contentState: try RawJSON(json: broadcast.contentState), sequence: broadcast.number,
            final: broadcast.isEnd)
        guard case .accepted(let accepted) = try await stage.organiser.send(.putState(event.key, state)),
            case .unchanged = try await stage.organiser.send(.putState(event.key, state)),
            accepted.outcome == (broadcast.isEnd ? .end : broadcast.alert == nil ? .update : .rings)
        else { throw PlayFailure("\(broadcast.label): the state had the wrong result") }
        return accepted
    }

    /// Checks that APNs got exactly the content that was sent.
    private func checkWire(_ broadcast: DemoEvent.Broadcast, requestID: String?) throws {
        let seen = stage.simulator.journal().last { entry in
            entry.request.headers.contains { $0.name == APNsHeader.requestID && $0.value == requestID }
        }
        guard let seen, seen.status == 200,
            let body = try JSONSerialization.jsonObject(with: Data(seen.request.body)) as? [String: Any],
            let aps = body["aps"] as? [String: Any], let contentState = aps["content-state"],
            try DemoEvent.canonical(contentState) == broadcast.contentState
        else { throw PlayFailure("\(broadcast.label): APNs did not see its content state") }
    }

    /// Checks the lookups right after an end was accepted. The server that accepted the end must answer 410 at once,
    /// and another server on the same database within a second.
    private func checkLookups(afterTheEndOf event: DemoEvent) async throws {
        let accepted = ContinuousClock.now
        let lookup = GrandstandClient.Call<GrandstandClient.Lookup>.lookup(
            event.key, in: .init(Self.bundleID, .production))
        report.step(
            "an app asks this server at once", "410 \(try await stage.refusal(410, of: lookup, at: stage.client).slug)")
        while try await stage.other.exchange(lookup).status == 200, ContinuousClock.now - accepted < .seconds(1) {
            try await Task.sleep(for: .milliseconds(2))
        }
        _ = try await stage.refusal(410, of: lookup, at: stage.other)
        let milliseconds = Int((ContinuousClock.now - accepted) / .milliseconds(1))
        report.step("another server, within a second", "410 after \(milliseconds) ms at most")
    }

    private func checkTheEnd(of event: DemoEvent) async throws {
        let update = GrandstandClient.BroadcastDraft(event: .update, contentState: try RawJSON(json: "{}"))
        let late = try await stage.refusal(409, of: .broadcast(to: event.key, update), at: stage.client)
        report.step("an update after the end", "409 \(late.slug)")
    }

    private func showQuota() async throws {
        let quotas = try await stage.organiser.send(.listQuotas())
        for quota in quotas.items {
            let listed = APNsEnvironment(rawValue: quota.environment.rawValue).map {
                stage.simulator.channels(of: Self.bundleID, in: $0).count
            }
            guard quota.used == events.count, listed == quota.used else {
                throw PlayFailure(
                    "the ledger counts \(quota.used) channels in \(quota.environment), APNs \(listed ?? 0)")
            }
            report.line(
                "  \(quota.bundleId)  \(quota.environment.rawValue.padding(toLength: 11, withPad: " ", startingAt: 0))  "
                    + "used \(quota.used) of \(quota.limit), available \(quota.available), level \(quota.level)")
        }
        report.step(
            "ledger and APNs agree", "\(quotas.items.reduce(0) { $0 + $1.used }) channels, kept until their retirement")
    }
}
