internal import APNsSimulator
internal import APNsWire
internal import EmbeddedPostgres
internal import Foundation
internal import GrandstandClient
internal import GrandstandTestKit
internal import Synchronization

/// The environment of a Saturday: the APNs simulator, a PostgreSQL server that can be frozen, and two replicas of the
/// program.
struct SaturdayGround: Sendable {
    static let bundleID = "com.example.Saturday"
    static let app = GrandstandClient.AppEnvironment(bundleID, .production)

    let simulator: Simulator
    let cluster: PostgresCluster
    /// One client for each replica.
    let clients: [GrandstandClient]
    let tally = Tally()

    var organiser: Organiser { Organiser { [clients] in clients } }

    static func with<Value: Sendable>(_ body: (SaturdayGround) async throws -> Value) async throws -> Value {
        try await Stage.onCluster(settings: ["GRANDSTAND_LANE_INTERVAL": "1"]) { cluster, settings, simulator in
            let secret = try await Stage.secret(settings)
            let replicas = [try await ChildProcess.server(settings), try await ChildProcess.server(settings)]
            return try await ending(with: { for replica in replicas { await replica.kill() } }) {
                let clients = replicas.compactMap { URL(string: $0.url) }.map { GrandstandClient.once($0, key: secret) }
                try await Organiser { clients }.putApp(bundleID, name: "Saturday")
                return try await body(SaturdayGround(simulator: simulator, cluster: cluster, clients: clients))
            }
        }
    }

    /// Collects descriptions of what does not agree.
    final class Tally: Sendable {
        private let faults = Mutex<[String]>([])

        var disagreements: [String] { faults.withLock { $0 } }

        func expect(_ holds: Bool, _ otherwise: @autoclosure () -> String) {
            if !holds { faults.withLock { $0.append(otherwise()) } }
        }
    }

    // MARK: Calls of an impatient program

    /// Makes a call as the step says. The first attempt may be given up and repeated, and the call may be sent again
    /// after it was answered.
    ///
    /// - Parameter same: the part that must be equal in the answers to all copies of the call.
    func make<Value, Identity: Equatable>(
        _ call: GrandstandClient.Call<Value>, _ step: SaturdayScript.Step, turn: Int,
        same: (Value) -> Identity
    ) async throws -> Value {
        var copies: [Value] = []
        if let giveUp = step.giveUp {
            let attempt = Task { await organiser.attempt(call, turn: turn) }
            let timer = Task {
                try await Task.sleep(for: giveUp)
                attempt.cancel()
            }
            if let hurried = try? await attempt.value?.get().value { copies.append(hurried) }
            timer.cancel()
        }
        let value = try await organiser.decide(call, first: turn + 1).get().value
        if step.isSentTwice { copies.append(try await organiser.decide(call, first: turn).get().value) }
        for copy in copies {
            tally.expect(same(copy) == same(value), "\(call.path): a repetition had another answer")
        }
        return value
    }
}

/// Compares what phones, lookups, the API and Apple have of the matches, both those that are over and those that are
/// still live.
struct SaturdayVerdict {
    let ground: SaturdayGround

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
        for text in ground.simulator.arrivals.backwards(numbersRise: false) {
            ground.tally.expect(false, text)
        }
    }

    private func expect(_ holds: Bool, _ feeder: SaturdayFeeder, _ otherwise: @autoclosure () -> String) {
        ground.tally.expect(holds, "\(feeder.script.key): \(otherwise())")
    }

    /// The phone must show one activity, with the newest content of its audience.
    private func check(_ spectator: SaturdayFeeder.Spectator, of feeder: SaturdayFeeder) throws {
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
        var faults: [String] = []
        do {
            try await until("the lookups are right", within: .seconds(10)) {
                faults = []
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
                return faults.isEmpty
            }
        } catch is NeverHappened {}
        return faults
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
    private func checkBroadcasts(of feeder: SaturdayFeeder) async throws {
        let listed = try await ground.organiser.send(.listBroadcasts(of: feeder.script.key).page(limit: 200)).items
        expect(
            listed.map(\.id).sorted() == feeder.accepted.sorted(), feeder,
            "\(feeder.accepted.count) broadcasts were accepted, \(listed.count) are listed")
        for broadcast in listed {
            let rest = broadcast.counts.filter { !["accepted", "superseded"].contains($0.key) && $0.value > 0 }
            expect(broadcast.state == .done && rest.isEmpty, feeder, "\(broadcast.id): \(broadcast.state) \(rest)")
        }
    }

    /// Each alert must have rung once on each channel: it was sent with one timestamp only.
    private func checkRings(of feeder: SaturdayFeeder, _ channels: [String], _ journal: [JournalEntry]) {
        var rung: [String: Set<Int>] = [:]
        for entry in journal where entry.operation == .broadcast && entry.status == 200 {
            let aps = entry.request.json["aps"]
            guard let channel = entry.request[header: APNsHeader.channelID], channels.contains(channel),
                let timestamp = aps?["timestamp"]?.int, let alert = aps?["alert"]?["body"]?.string
            else { continue }
            rung["\(channel) \(alert)", default: []].insert(timestamp)
        }
        for channel in channels {
            for alert in feeder.alerts {
                let times = rung["\(channel) \(alert)"]?.count ?? 0
                expect(times == 1, feeder, "the alert \(alert) rang \(times) times on \(channel)")
            }
        }
        expect(rung.count == channels.count * feeder.alerts.count, feeder, "\(rung.count) rings")
    }
}
