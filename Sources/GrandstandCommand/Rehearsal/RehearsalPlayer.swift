internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandClient
internal import JSON
internal import MatchDriver
internal import Synchronization

/// Plays a plan once: declares its events, sends the organisers' messages, and records the results.
struct RehearsalPlayer: Sendable {
    let plan: RehearsalPlan
    /// The events by key.
    let declared: [String: DeclaredEvent]
    let limits: [AppEnvironment: Int]
    /// `nil`: the states are generated from the content types' rules.
    let feed: RehearsalFeed?
    let stage: RehearsalStage
    /// The real time at which the plan begins. Everything is declared before this time.
    private let base: Date
    private let notes: Notes

    /// The record, shared by several tasks.
    private final class Notes: Sendable {
        private let record: Mutex<RehearsalRecord>

        init(base: Date) { record = Mutex(RehearsalRecord(base: base)) }

        func change<Value: Sendable>(_ body: (inout RehearsalRecord) -> Value) -> Value {
            record.withLock { body(&$0) }
        }
    }

    /// Seconds after an event's start for which its channels may still be missing. Channels are created in real time,
    /// and the server notices an opening within five seconds.
    private static let channelGrace: TimeInterval = 20
    /// Seconds to wait for messages that are in progress after the last end.
    private static let patience: TimeInterval = 60
    /// The shortest time before a message expires, in seconds. In a compressed day, a fault takes a larger part of the
    /// day, and messages must not expire because of this.
    private static let shortestExpiration = 60

    /// Registers the apps and their phones, and then plays the plan. The registration may take any time, because the
    /// plan begins after it.
    static func play(
        _ plan: RehearsalPlan, _ declared: [String: DeclaredEvent], limits: [AppEnvironment: Int],
        contents: [RehearsalContent], feed: RehearsalFeed?, phones: RehearsalPhones, fault: RehearsalFault.Kind?,
        on stage: RehearsalStage
    ) async throws -> RehearsalRecord {
        for (bundleID, limit) in Dictionary(limits.map { ($0.key.bundleID, $0.value) }, uniquingKeysWith: max) {
            try await stage.organiser.putApp(bundleID.rawValue, name: "Rehearsal", channelLimit: limit)
        }
        for content in contents {
            let declaration = content.declaration(marked: Mark.member, speed: plan.speed)
            try await stage.organiser.send(
                .putContent(
                    content.type.attributesType, of: content.type.bundleID.rawValue,
                    json: try RawJSON(json: Data(declaration))))
        }
        try await phones.register(on: stage)
        let base = Date(timeIntervalSinceNow: 1 + Double(plan.scripts.count) / 100)
        return try await RehearsalPlayer(
            plan: plan, declared: declared, limits: limits, feed: feed, stage: stage, base: base,
            notes: Notes(base: base)
        ).play(fault)
    }

    private func play(_ fault: RehearsalFault.Kind?) async throws -> RehearsalRecord {
        let scripts = try plan.scripts.enumerated().compactMap { index, script in try self.script(script, index) }
        try await stage.organiser.declare(scripts) { script, decision in
            note(decision.problem, of: plan.scripts[script.number].event, "declare")
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for script in scripts {
                group.addTask { try await isFed(script.number) ? tell(script.number) : send(script) }
                let planned = plan.scripts[script.number]
                if planned.isPlayed { group.addTask { try await lookAtChannels(of: planned) } }
            }
            if let fault { group.addTask { try await strike(fault) } }
            try await group.waitForAll()
        }
        let deadline = Date(timeIntervalSinceNow: Self.patience)
        for (index, script) in plan.scripts.enumerated() where script.isPlayed {
            try await collect(script.event, index, until: deadline)
        }
        return notes.change { record in
            record.finishedAt = Date()
            record.observe(stage.simulator, apps: limits.keys)
            return record
        }
    }

    private func script(_ script: RehearsalPlan.Script, _ index: Int) throws -> MatchScript? {
        guard let declared = declared[script.event.key] else { return nil }
        if isFed(index) { return MatchScript(index, try declared.declaration(plan, since: base)) }
        let longest = max(Self.shortestExpiration, Int(28_800 / plan.speed))
        return MatchScript(
            index, try declared.declaration(plan, since: base),
            messages: try script.messages.map { message in
                let expiresIn = message.rings ? min(longest, Int(stage.alertFreshness)) : longest
                return .init(
                    message.number, after: plan.moment(of: message.at, since: base).timeIntervalSince(base),
                    try declared.call(for: message, event: index, expiresIn: expiresIn))
            })
    }

    private func send(_ script: MatchScript) async throws {
        let planned = plan.scripts[script.number]
        try await stage.organiser.play(script, from: base) { message, decision in
            note(decision.problem, of: planned.event, "broadcast")
            guard planned.isPlayed, let accepted = try? decision.result.get() else { return }
            notes.change {
                $0.messages.append(
                    .init(
                        event: script.number, number: message.number, sentAt: decision.began,
                        acceptedAt: accepted.acceptedAt))
                $0.decisions.append(.init(accepted.value, event: script.number, number: message.number))
            }
        }
    }

    /// Whether the event gets states. Other events get broadcasts.
    private func isFed(_ index: Int) -> Bool {
        let script = plan.scripts[index]
        return script.isPlayed && (feed != nil || script.event.hasContentType)
    }

    /// Reports the states of an event, one after the other. If there is a feed, they are the recorded states. Without a
    /// feed, every state is new for the server, and every eighth state is changed so that a rule of the content type
    /// sends an alert.
    private func tell(_ index: Int) async throws {
        let planned = plan.scripts[index]
        guard let declared = declared[planned.event.key] else { return }
        var (content, mark, turn) = (declared.firstContent, 0, 0)
        for message in planned.messages {
            try await Self.sleep(until: plan.moment(of: message.at, since: base))
            var next = content
            if let feed {
                next = feed.contents[message.number - 1]
            } else if message.rings, let changed = content.flatMap({ declared.content?.ringing(after: $0, turn: turn) })
            {
                next = changed
                turn += 1
            }
            let isSame = feed != nil && mark > 0 && content.flatMap { next?.isSame(as: $0) } ?? false
            if !isSame || message.isEnd { mark = message.number }
            content = next
            let decision = try await stage.organiser.decide(
                try declared.state(next, message, event: index, mark: mark), first: index + message.number)
            if decision.problem?.kind != .contentMismatch { note(decision.problem, of: planned.event, "state") }
            notes.change { [mark] record in
                record.note(decision, event: index, number: message.number, isNew: mark == message.number)
            }
        }
    }

    private func lookAtChannels(of script: RehearsalPlan.Script) async throws {
        guard let startsAt = script.event.startsAt else { return }
        let moment = plan.moment(of: startsAt, since: base)
        try await Self.sleep(until: moment)
        let deadline = Date(timeIntervalSinceNow: Self.channelGrace)
        while true {
            let decision = try await stage.organiser.decide(.getEvent(script.event.key))
            // A refused event is already in the report.
            guard let event = try? decision.result.get().value else { return }
            let missing = event.audiences.filter { [.waiting, .pending, .failed].contains($0.channel.state) }
            if missing.isEmpty { return }
            if Date() > deadline {
                for audience in missing { noteMissing(audience, script.event, at: moment) }
                return
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    private func noteMissing(_ audience: GrandstandClient.EventAudience, _ event: RehearsalEvent, at moment: Date) {
        let refusal = RehearsalRecord.Refusal(
            eventKey: event.key, at: moment, action: "channel",
            problem: audience.channel.reason ?? audience.channel.state.rawValue,
            detail: "\(audience.bundleId) in \(audience.environment) has no channel for its start.")
        notes.change { $0.refusals.append(refusal) }
    }

    private func strike(_ kind: RehearsalFault.Kind) async throws {
        try await Self.sleep(until: plan.moment(of: plan.faultAt, since: base))
        let at = Date()
        try await stage.strike(kind, outage: plan.outageSeconds)
        let seconds = kind == .replica ? 0 : Date().timeIntervalSince(at)
        notes.change { $0.fault = RehearsalFault(kind: kind, at: at, seconds: seconds) }
    }

    /// Waits until nothing of the event is in progress, and counts the results.
    private func collect(_ event: RehearsalEvent, _ index: Int, until deadline: Date) async throws {
        guard try await stage.organiser.decide(.getEvent(event.key)).problem == nil else { return }
        var outcomes: [String: Int] = [:]
        var starts = StartReport.Counts()
        var channels: Set<String> = []
        while true {
            let audiences = try await stage.organiser.send(.getEvent(event.key)).audiences
            channels.formUnion(audiences.compactMap(\.channel.channelId))
            let isPending = audiences.contains { $0.channel.state == .pending }
            let isStarted = try await event.hasStart ? read(&starts, of: event) : true
            outcomes = try await broadcasts(of: event)
            // The state `waiting` (no channel yet) is left out: if the app's channel limit is used up, the message
            // waits longer than a rehearsal.
            let isUnderWay = isPending || ["queued", "sending", "scheduled"].contains { outcomes[$0] != nil }
            if !isUnderWay && isStarted || Date() > deadline { break }
            try await Task.sleep(for: .milliseconds(100))
        }
        notes.change { record in
            record.outcomes.merge(outcomes, uniquingKeysWith: +)
            record.startCounts = record.startCounts + starts
            record.channels[index] = channels
        }
    }

    /// The number of the event's deliveries in each state, without states that have none.
    private func broadcasts(of event: RehearsalEvent) async throws -> [String: Int] {
        var (counts, cursor): ([String: Int], String?) = ([:], nil)
        repeat {
            let page = try await stage.organiser.send(.listBroadcasts(of: event.key).page(limit: 200, after: cursor))
            for broadcast in page.items { counts.merge(broadcast.counts, uniquingKeysWith: +) }
            cursor = page.nextCursor
        } while cursor != nil
        return counts.filter { $0.value > 0 }
    }

    /// - Returns: whether no start is in progress.
    private func read(_ starts: inout StartReport.Counts, of event: RehearsalEvent) async throws -> Bool {
        let report = try await stage.organiser.send(.getStart(event.key))
        starts.followers = report.counts.followers
        starts.accepted = report.counts.accepted
        starts.rejected = report.counts.rejected
        starts.unknown = report.counts.unknown
        starts.pending = report.counts.pending
        return report.state != .running
    }

    private func note(_ problem: ServerProblem?, of event: RehearsalEvent, _ action: String) {
        guard let problem else { return }
        let faults = problem.errors.map { " \($0.pointer): \($0.detail)" }.joined()
        let refusal = RehearsalRecord.Refusal(
            eventKey: event.key, at: Date(), action: action, problem: problem.slug, detail: problem.detail + faults)
        notes.change { $0.refusals.append(refusal) }
    }

    private static func sleep(until moment: Date) async throws {
        try await Task.sleep(for: .seconds(max(0, moment.timeIntervalSinceNow)))
    }
}

extension RehearsalRecord.Decision {
    /// - Parameter broadcast: the server's answer.
    fileprivate init(_ broadcast: GrandstandClient.Broadcast, event: Int, number: Int) {
        self.init(
            event: event, number: number, outcome: broadcast.outcome.flatMap { StateOutcome(rawValue: $0.rawValue) },
            isUrgent: broadcast.deliveries.contains { $0.priority == APNsPriority.immediate.rawValue },
            faults: broadcast.warnings.filter { $0.hasPrefix("/") })
    }
}

extension RehearsalRecord {
    /// Adds the server's decision about a state.
    ///
    /// - Parameter isNew: whether the content was not reported before.
    fileprivate mutating func note(
        _ decision: Organiser.Decision<GrandstandClient.StateAnswer>, event: Int, number: Int, isNew: Bool
    ) {
        switch decision.result.map(\.value) {
        case .success(.accepted(let broadcast)):
            let told = Decision(broadcast, event: event, number: number)
            messages.append(
                .init(
                    event: event, number: number, sentAt: decision.began, acceptedAt: broadcast.acceptedAt,
                    isQuiet: told.outcome == .quiet))
            decisions.append(told)
        case .success(.unchanged):
            // A new content can be `unchanged` only if an earlier attempt was accepted and its answer was lost.
            if isNew {
                messages.append(
                    .init(
                        event: event, number: number, sentAt: decision.began, acceptedAt: decision.began,
                        isQuiet: true))
            }
            decisions.append(.init(event: event, number: number, outcome: .unchanged, isUrgent: false, faults: []))
        case .failure(let problem) where problem.kind == .contentMismatch:
            decisions.append(
                .init(
                    event: event, number: number, outcome: nil, isUrgent: false,
                    faults: problem.errors.map { "\($0.pointer): \($0.detail)" }))
        case .failure: break
        }
    }

    /// Adds the messages, channels and starts that Apple accepted.
    ///
    /// - Parameter apps: the apps with a limit.
    fileprivate mutating func observe(_ simulator: Simulator, apps: some Sequence<AppEnvironment>) {
        let places = Dictionary(
            apps.map { ("\($0.environment.rawValue) \(APNsPath.channels(of: $0.bundleID.rawValue).lowercased())", $0) }
        ) { first, _ in first }
        arrivals = simulator.arrivals.map {
            .init(event: $0.match, channelID: $0.channelID, number: $0.number, at: $0.at)
        }
        for entry in simulator.journal() where (200..<300).contains(entry.status) {
            let request = entry.request
            switch entry.operation {
            case .create, .delete:
                guard let app = places["\(request.environment.rawValue) \(request.path.lowercased())"] else { continue }
                placeChanges.append(.init(app: app, at: entry.time, by: entry.operation == .create ? 1 : -1))
            case .device where (try? JSONValue(parsing: request.body))?["aps"]?["event"]?.string == "start":
                starts.append(entry.time)
            default: continue
            }
        }
    }
}
