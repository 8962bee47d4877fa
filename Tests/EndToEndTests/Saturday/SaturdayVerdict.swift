internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandClient

@testable internal import GrandstandCommand

/// Compares what phones, lookups, the API and Apple have of the matches, both those that are over and those that are
/// still live.
struct SaturdayVerdict {
    let ground: SaturdayGround
    /// How many messages, superseded messages, rings and phones there were.
    private(set) var numbers: [String: Int] = [:]

    init(_ feeders: [SaturdayFeeder], on ground: SaturdayGround) async throws {
        self.ground = ground
        var channels: Set<String> = []
        let journal = ground.simulator.journal()
        for feeder in feeders {
            let event = try await ground.organiser.send(.getEvent(feeder.script.key))
            let state: GrandstandClient.EventState = feeder.script.isOver ? .ended : .live
            expect(event.state == state, feeder, "the API says \(event.state), not \(state)")
            let own = event.audiences.compactMap(\.channel.channelId)
            channels.formUnion(own)
            for spectator in feeder.spectators { try check(spectator, of: feeder) }
            try await checkBroadcasts(of: feeder)
            checkRings(of: feeder, own, journal)
        }
        for fault in try await lookupFaults(feeders) { ground.tally.expect(false, fault) }
        let atApple = Set(ground.simulator.channels(of: SaturdayGround.bundleID, in: .production).map(\.id))
        ground.tally.expect(atApple == channels, "Apple has \(atApple.count) channels, the API \(channels.count)")
        for text in ArrivalOrder(ground.simulator.arrivals, numbersRise: false).backwards {
            ground.tally.expect(false, text)
        }
    }

    private func expect(_ holds: Bool, _ feeder: SaturdayFeeder, _ otherwise: @autoclosure () -> String) {
        ground.tally.expect(holds, "\(feeder.script.key): \(otherwise())")
    }

    /// The phone must show one activity, with the newest content of its audience.
    private mutating func check(_ spectator: SaturdayFeeder.Spectator, of feeder: SaturdayFeeder) throws {
        numbers["phones", default: 0] += 1
        let cards = ground.simulator.lockScreen(of: spectator.phone)
        let number = spectator.sawMistake ? feeder.mistake ?? feeder.newest : feeder.newest
        let content = try feeder.content(number, spectator.variant)
        let state: APNsSimulator.Activity.State = spectator.sawMistake || feeder.script.isOver ? .ended : .active
        expect(
            cards.count == 1 && cards[0].contentState.bytes == Array(content.bytes) && cards[0].state == state, feeder,
            "\(spectator.phone) should show \(content) \(state), not \(cards)")
    }

    /// The lookups of both replicas must have what the phones show, or say that the match is over. A replica may need
    /// some seconds to learn of a change.
    private func lookupFaults(_ feeders: [SaturdayFeeder]) async throws -> [String] {
        let deadline = ContinuousClock.now + .seconds(10)
        while true {
            var faults: [String] = []
            for (number, client) in ground.clients.enumerated() {
                for feeder in feeders {
                    for variant in feeder.script.variants {
                        let fault = try await lookupFault(of: feeder, variant, at: client)
                        let name = "\(feeder.script.key) \(variant ?? "")"
                        fault.map { faults.append("the lookup of \(name) at replica \(number + 1) says \($0)") }
                    }
                }
                let listed = try await client.send(.lookupList(in: SaturdayGround.app).page(limit: 200)).items
                let wanted = feeders.filter { !$0.script.isOver }.map(\.script.key).sorted()
                if listed.map(\.eventKey).sorted() != wanted {
                    faults.append("the list of replica \(number + 1) has \(listed.map(\.eventKey)), not \(wanted)")
                }
            }
            guard !faults.isEmpty, ContinuousClock.now < deadline else { return faults }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// - Returns: the lookup's answer if it is wrong; `nil`: it is right.
    private func lookupFault(
        of feeder: SaturdayFeeder, _ variant: String?, at client: GrandstandClient
    ) async throws -> String? {
        let call = GrandstandClient.Call<GrandstandClient.Lookup>.lookup(
            feeder.script.key, in: SaturdayGround.app, include: .contentState, variant: variant)
        guard let answer = await Organiser(clients: { [client] }).attempt(call) else { return "nothing" }
        switch answer {
        case .success(let found):
            let event = try await ground.organiser.send(.getEvent(feeder.script.key))
            let channel = event.audiences.first { $0.variant == variant }?.channel.channelId
            let phone = feeder.spectators.last { $0.variant == variant }?.phone ?? ""
            let card = ground.simulator.lockScreen(of: phone).first
            let isRight =
                try !feeder.script.isOver && found.channelId == channel && found.timestamp == card?.timestamp
                && found.contentState == feeder.content(feeder.newest, variant)
            return isRight ? nil : "\(found.value), \(phone) shows \(card.map { "\($0)" } ?? "nothing")"
        case .failure(let problem):
            return feeder.script.isOver && problem.kind == .eventEnded ? nil : "\(problem)"
        }
    }

    /// Each accepted broadcast must be listed once, and its messages must have been sent or superseded.
    private mutating func checkBroadcasts(of feeder: SaturdayFeeder) async throws {
        let listed = try await ground.organiser.send(.listBroadcasts(of: feeder.script.key).page(limit: 200)).items
        expect(
            listed.map(\.id).sorted() == feeder.accepted.sorted(), feeder,
            "\(feeder.accepted.count) broadcasts were accepted, \(listed.count) are listed")
        for broadcast in listed {
            numbers["messages", default: 0] += broadcast.counts["accepted"] ?? 0
            numbers["superseded", default: 0] += broadcast.counts["superseded"] ?? 0
            let rest = broadcast.counts.filter { !["accepted", "superseded"].contains($0.key) && $0.value > 0 }
            expect(broadcast.state == .done && rest.isEmpty, feeder, "\(broadcast.id): \(broadcast.state) \(rest)")
        }
    }

    /// Each alert must have rung once on each channel: it was sent with one timestamp only.
    private mutating func checkRings(of feeder: SaturdayFeeder, _ channels: [String], _ journal: [JournalEntry]) {
        var rung: [String: Set<Int>] = [:]
        for entry in journal where entry.operation == .broadcast && entry.status == 200 {
            let aps = entry.request.json["aps"]
            guard let channel = entry.request[header: APNsHeader.channelID], channels.contains(channel),
                let timestamp = aps?["timestamp"]?.int, let alert = aps?["alert"]?["body"]?.string
            else { continue }
            rung["\(channel) \(alert)", default: []].insert(timestamp)
        }
        numbers["rings", default: 0] += rung.count
        for channel in channels {
            for alert in feeder.alerts {
                let times = rung["\(channel) \(alert)"]?.count ?? 0
                expect(times == 1, feeder, "the alert \(alert) rang \(times) times on \(channel)")
            }
        }
        expect(rung.count == channels.count * feeder.alerts.count, feeder, "\(rung.count) rings")
    }
}
