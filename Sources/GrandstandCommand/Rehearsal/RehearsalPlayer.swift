internal import APNsSimulator
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandClient
internal import Synchronization

/// Plays a plan once: declares its events, sends the messages of their organisers, and records the results.
struct RehearsalPlayer: Sendable {
    let plan: RehearsalPlan
    /// By key.
    let declared: [String: DeclaredEvent]
    let limits: [AppEnvironment: Int]
    let stage: RehearsalStage
    /// When the plan's beginning is: nothing of the day happens before all of it is declared.
    private let base: Date
    private let notes: Notes

    /// The record that several tasks write.
    private final class Notes: Sendable {
        private let record: Mutex<RehearsalRecord>

        init(base: Date) { record = Mutex(RehearsalRecord(base: base)) }

        func change<Value: Sendable>(_ body: (inout RehearsalRecord) -> Value) -> Value {
            record.withLock { body(&$0) }
        }
    }

    /// Channels are made in real time, and an opening is noticed within five seconds: seconds after its start for which an
    /// event's may still be missing.
    private static let channelGrace: TimeInterval = 20
    /// Seconds to wait for messages that are still under way after the last end.
    private static let patience: TimeInterval = 60
    /// Seconds the shortest message is worth sending, so that a fault of a compressed day does not outlast it.
    private static let shortestExpiration = 60

    /// Registers the apps and their phones, which takes as long as it takes, and begins.
    static func play(
        _ plan: RehearsalPlan, _ declared: [String: DeclaredEvent], limits: [AppEnvironment: Int],
        phones: RehearsalPhones, fault: RehearsalFault.Kind?, on stage: RehearsalStage
    ) async throws -> RehearsalRecord {
        for (bundleID, limit) in Dictionary(limits.map { ($0.key.bundleID, $0.value) }, uniquingKeysWith: max) {
            var draft = Draft()
            draft.set("name", "Rehearsal")
            draft.set("teamId", Simulator.team)
            draft.set("keyId", Simulator.key)
            draft.set("channelLimit", limit)
            _ = try await stage.value(
                "PUT", "/v1/apps/\(GrandstandClient.encoded(bundleID.rawValue))", json: draft.bytes)
        }
        try await phones.register(on: stage)
        let base = Date(timeIntervalSinceNow: 1 + Double(plan.scripts.count) / 100)
        return try await RehearsalPlayer(
            plan: plan, declared: declared, limits: limits, stage: stage, base: base, notes: Notes(base: base)
        ).play(fault)
    }

    private func play(_ fault: RehearsalFault.Kind?) async throws -> RehearsalRecord {
        try await declare()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, script) in plan.scripts.enumerated() {
                group.addTask { try await send(script, index) }
                if script.isPlayed { group.addTask { try await lookAtChannels(of: script) } }
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
            stage.recorder.fill(&record, apps: limits.keys)
            return record
        }
    }

    private func declare() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, script) in plan.scripts.enumerated() {
                if number >= 16 { try await group.next() }
                guard let declared = declared[script.event.key] else { continue }
                group.addTask {
                    let answer = try await stage.call(
                        "PUT", Self.path(script.event), json: declared.draft(plan, since: base))
                    note(answer, of: script.event, "declare")
                }
            }
            try await group.waitForAll()
        }
    }

    /// One message after the other, as an organiser sends them; when one was late, the next goes at once.
    private func send(_ script: RehearsalPlan.Script, _ index: Int) async throws {
        guard let declared = declared[script.event.key] else { return }
        let longest = max(Self.shortestExpiration, Int(28_800 / plan.speed))
        for message in script.messages {
            try await Self.sleep(until: plan.moment(of: message.at, since: base))
            let expiresIn = message.rings ? min(longest, Int(stage.alertFreshness)) : longest
            let sentAt = Date()
            let answer = try await stage.call(
                "POST", Self.path(script.event) + "/broadcasts",
                json: declared.body(of: message, event: index, expiresIn: expiresIn),
                as: "\(script.event.key) \(message.number)", first: message.number)
            note(answer, of: script.event, "broadcast")
            guard answer.status == 202, script.isPlayed,
                let acceptedAt = try ServerAccess.json(of: answer)?["acceptedAt"]?.string.flatMap(RFC3339.date)
            else { continue }
            notes.change {
                $0.messages.append(
                    .init(event: index, number: message.number, sentAt: sentAt, acceptedAt: acceptedAt))
            }
        }
    }

    private func lookAtChannels(of script: RehearsalPlan.Script) async throws {
        guard let startsAt = script.event.startsAt else { return }
        let moment = plan.moment(of: startsAt, since: base)
        try await Self.sleep(until: moment)
        let deadline = Date(timeIntervalSinceNow: Self.channelGrace)
        while true {
            let answer = try await stage.call("GET", Self.path(script.event))
            // One that was refused is in the report already.
            guard answer.status == 200, let event = try ServerAccess.json(of: answer) else { return }
            let missing = (event["audiences"]?.elements ?? []).filter { audience in
                let state = audience["channel"]?["state"]?.string
                return state == "waiting" || state == "pending" || state == "failed"
            }
            if missing.isEmpty { return }
            if Date() > deadline {
                for audience in missing { noteMissing(audience, script.event, at: moment) }
                return
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    private func noteMissing(_ audience: JSONValue, _ event: RehearsalEvent, at moment: Date) {
        let channel = audience["channel"]
        let names = ["bundleId", "environment"].compactMap { audience[$0]?.string }.joined(separator: " in ")
        let refusal = RehearsalRecord.Refusal(
            eventKey: event.key, at: moment, action: "channel",
            problem: channel?["reason"]?.string ?? channel?["state"]?.string ?? "missing",
            detail: "\(names) has no channel for its start.")
        notes.change { $0.refusals.append(refusal) }
    }

    private func strike(_ kind: RehearsalFault.Kind) async throws {
        try await Self.sleep(until: plan.moment(of: plan.faultAt, since: base))
        let at = Date()
        try await stage.strike(kind, outage: plan.outageSeconds)
        let seconds = kind == .replica ? 0 : Date().timeIntervalSince(at)
        notes.change { $0.fault = RehearsalFault(kind: kind, at: at, seconds: seconds) }
    }

    /// Waits until nothing of an event is under way any more, and counts.
    private func collect(_ event: RehearsalEvent, _ index: Int, until deadline: Date) async throws {
        guard try await stage.call("GET", Self.path(event)).status == 200 else { return }
        var outcomes: [String: Int] = [:]
        var starts = StartReport.Counts()
        var channels: Set<String> = []
        while true {
            let audiences = try await stage.value("GET", Self.path(event))["audiences"]?.elements ?? []
            channels.formUnion(audiences.compactMap { $0["channel"]?["channelId"]?.string })
            let isPending = audiences.contains { $0["channel"]?["state"]?.string == "pending" }
            let isStarted = try await event.hasStart ? read(&starts, of: event) : true
            outcomes = try await broadcasts(of: event)
            // Messages for a channel that finds no place wait longer than a rehearsal.
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

    /// The event's deliveries by state; states without any are left out.
    private func broadcasts(of event: RehearsalEvent) async throws -> [String: Int] {
        var (counts, cursor): ([String: Int], String?) = ([:], nil)
        repeat {
            let query = "?limit=200" + (cursor.map { "&cursor=\(GrandstandClient.encoded($0))" } ?? "")
            let page = try await stage.value("GET", Self.path(event) + "/broadcasts" + query)
            for broadcast in page["items"]?.elements ?? [] {
                counts.merge(broadcast["counts"]?.counts ?? [:], uniquingKeysWith: +)
            }
            cursor = page["nextCursor"]?.string
        } while cursor != nil
        return counts.filter { $0.value > 0 }
    }

    /// - Returns: whether no start is under way.
    private func read(_ starts: inout StartReport.Counts, of event: RehearsalEvent) async throws -> Bool {
        let report = try await stage.value("GET", Self.path(event) + "/starts")
        let counts = report["counts"]?.counts ?? [:]
        starts.followers = counts["followers"] ?? 0
        starts.accepted = counts["accepted"] ?? 0
        starts.rejected = counts["rejected"] ?? 0
        starts.unknown = counts["unknown"] ?? 0
        starts.pending = counts["pending"] ?? 0
        return report["state"]?.string != "running"
    }

    private func note(_ answer: GrandstandClient.Answer, of event: RehearsalEvent, _ action: String) {
        guard !(200..<300).contains(answer.status) else { return }
        let problem = ServerProblem(answer)
        let faults = problem.errors.map { " \($0.pointer): \($0.detail)" }.joined()
        let refusal = RehearsalRecord.Refusal(
            eventKey: event.key, at: Date(), action: action, problem: problem.slug, detail: problem.detail + faults)
        notes.change { $0.refusals.append(refusal) }
    }

    private static func path(_ event: RehearsalEvent) -> String { "/v1/events/\(GrandstandClient.encoded(event.key))" }

    private static func sleep(until moment: Date) async throws {
        try await Task.sleep(for: .seconds(max(0, moment.timeIntervalSinceNow)))
    }
}

extension JSONValue {
    /// The members of an object that are whole numbers.
    fileprivate var counts: [String: Int] {
        guard case .object(let members) = kind else { return [:] }
        return members.reduce(into: [:]) { counts, member in
            if case .number(let text) = member.value.kind, let number = Int(text) { counts[member.name] = number }
        }
    }
}
