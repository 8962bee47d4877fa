internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandServer
internal import JSON
internal import Synchronization

/// One run of a season. The calendar was already read. The run changes the server's events to match the calendar.
struct SeasonRun: Sendable {
    let server: ServerAccess
    let request: CalendarPlan.Request

    /// The most requests at a time.
    private static let concurrency = 8
    /// The most times that a plan is made and applied. It is made again if others changed events in the meantime.
    private static let rounds = 3
    /// The events on one page of a list.
    private static let pageLength = 200

    /// What a run would do.
    func preview() async throws -> CalendarPlan {
        CalendarPlan(request, try await situation())
    }

    /// Applies the plan. If somebody else changed an event in the meantime, a new plan is made.
    ///
    /// - Returns: what was done, and the number of refused changes.
    func apply() async throws -> (report: CalendarPlan, failed: Int) {
        var plan = try await preview()
        var report = plan
        (report.create, report.change, report.cancel) = ([], [], [])
        var refusals: [CalendarFault] = []
        var (over, written) = (0, 0)
        for round in 1...Self.rounds {
            let results = try await carryOut(plan)
            report.create += plan.create.filter { results[$0.key] == .done }
            report.change += plan.change.filter { results[$0.key] == .done }
            report.cancel += plan.cancel.filter { results[$0.key] == .done }
            // Events that earlier rounds wrote also count as unchanged in this plan.
            report.unchanged = plan.unchanged - written
            written = report.create.count + report.change.count
            over += plan.change.count { results[$0.key] == .over }
            refusals += problems(of: plan, results)
            guard results.values.contains(.changedMeanwhile) else { break }
            guard round < Self.rounds else {
                refusals.append(CalendarFault(line: nil, "Somebody else changed events each time; run it again."))
                break
            }
            plan = try await preview()
        }
        report.unchanged += over
        report.problems = plan.problems + refusals
        report.holdsBack = plan.holdsBack
        return (report, refusals.count)
    }

    // MARK: Reading

    /// The season's events, and other events that already have the keys of new entries.
    private func situation() async throws -> CalendarPlan.Situation {
        var situation = try await list(.listEvents(season: request.season.rawValue))
        let keys = Array(request.newKeys(beside: situation.events))
        let found = try await concurrently(keys, "looking for events") { key -> (EventKey, SeasonEvent?, Bool) in
            let answer = try await server.answer(to: .getEvent(key.rawValue))
            switch answer.status {
            case 404: return (key, nil, false)
            case 403: return (key, nil, true)
            default: return (key, try Self.event(answer), false)
            }
        }
        for (key, event, isOutOfReach) in found {
            if isOutOfReach { situation.outOfReach.insert(key) }
            situation.events[key] = event
        }
        return situation
    }

    /// All events of a list, and the server's time.
    private func list(
        _ call: GrandstandClient.Call<GrandstandClient.Page<GrandstandClient.Event>>
    ) async throws -> CalendarPlan.Situation {
        var events: [EventKey: SeasonEvent] = [:]
        var now: Date?
        var cursor: String?
        repeat {
            let answer = try await server.answer(to: call.page(limit: Self.pageLength, after: cursor))
            let page = try ServerAccess.json(of: answer)
            for item in page?["items"]?.elements ?? [] {
                guard let event = SeasonEvent(shown: item) else { throw Self.noEvent }
                events[event.key] = event
            }
            now = now ?? answer.headers["date"].flatMap(HTTPDate.parse)
            cursor = page?["nextCursor"]?.string
        } while cursor != nil
        var situation = CalendarPlan.Situation(now: now ?? Date())
        situation.events = events
        return situation
    }

    private static let noEvent = StartError(
        "The answer has events of another form, so it is not from Grandstand: is GRANDSTAND_URL correct?")

    private static func event(_ answer: GrandstandClient.Answer) throws -> SeasonEvent {
        guard let event = try ServerAccess.json(of: answer).flatMap(SeasonEvent.init(shown:)) else { throw noEvent }
        return event
    }

    // MARK: Writing

    /// The result of a write.
    private enum Result: Sendable, Equatable {
        case done
        /// Somebody else has changed the event since it was read.
        case changedMeanwhile
        /// The event is over and can no longer be changed.
        case over
        /// The refusal in the server's words.
        case refused(String)
    }

    private func carryOut(_ plan: CalendarPlan) async throws -> [EventKey: Result] {
        let writes = plan.create + plan.change + plan.notes
        let written = try await concurrently(writes, "writing events") { ($0.key, try await put($0)) }
        let cancelled = try await concurrently(plan.cancel, "cancelling events") { ($0.key, try await cancel($0)) }
        return Dictionary(written + cancelled) { $1 }
    }

    private func put(_ write: CalendarPlan.Write) async throws -> Result {
        let call = GrandstandClient.Call<GrandstandClient.Event>.putEvent(
            write.key.rawValue, json: try RawJSON(json: Data(write.document.text)))
        guard let present = write.present else {
            return try Self.result(try await server.answer(to: call.ifNoneExists()))
        }
        guard let tag = try await tag(of: present) else { return .changedMeanwhile }
        return try Self.result(try await server.answer(to: call.ifMatch(tag)))
    }

    /// Records in the event that the calendar cancels it, then cancels it.
    private func cancel(_ write: CalendarPlan.Write) async throws -> Result {
        let result = try await put(write)
        guard result == .done, var event = write.present else { return result }
        event.document = write.document
        guard let tag = try await tag(of: event) else { return .changedMeanwhile }
        return try Self.result(
            try await server.answer(to: GrandstandClient.Call<Void>.cancelEvent(event.key.rawValue).ifMatch(tag)))
    }

    /// The entity tag of an event that has not changed since it was read; `nil`: it has changed.
    private func tag(of event: SeasonEvent) async throws -> String? {
        let answer = try await server.answer(to: .getEvent(event.key.rawValue))
        guard answer.status != 404 else { return nil }
        let present = try Self.event(answer)
        return present.document == event.document && present.state == event.state
            && present.reopenedAt == event.reopenedAt
            ? answer.entityTag : nil
    }

    /// - Throws: `StartError` for an error that affects every request, such as an expired key.
    private static func result(_ answer: GrandstandClient.Answer) throws -> Result {
        let problem = ServerProblem(answer)
        switch answer.status {
        case 200..<300: return .done
        case 412: return .changedMeanwhile
        case 409 where problem.kind == .eventEnded: return .over
        case 400, 403, 404, 409, 413, 422:
            let faults = problem.errors.map { " \($0.pointer): \($0.detail)" }.joined()
            return .refused("\(problem.detail)\(faults)")
        default: throw ServerAccess.refusal(problem)
        }
    }

    /// The entries that the server refused.
    private func problems(of plan: CalendarPlan, _ results: [EventKey: Result]) -> [CalendarFault] {
        (plan.create + plan.change + plan.notes + plan.cancel).compactMap { write in
            guard case .refused(let detail)? = results[write.key] else { return nil }
            return CalendarFault(line: write.line, "The event \(write.key): \(detail)", uid: write.uid)
        }
    }

    /// Processes all items, several at a time, and shows the progress on a terminal.
    private func concurrently<Item: Sendable, Value: Sendable>(
        _ items: [Item], _ what: String, _ work: @escaping @Sendable (Item) async throws -> Value
    ) async throws -> [Value] {
        try await forEach(items, atMost: Self.concurrency) { done in
            guard Terminal.isInteractive else { return }
            Terminal.progress("\(what): \(done) of \(items.count)", isLast: done == items.count)
        } _: {
            try await work($0)
        }
    }
}
