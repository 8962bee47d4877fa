internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandServer
internal import JSON

/// One run of a season. The calendar was already read. The run changes the server's events to match the calendar.
struct SeasonRun: Sendable {
    let server: ServerAccess
    let request: CalendarPlan.Request

    /// The most requests at a time.
    private static let concurrency = 8

    /// What a run would do.
    func preview() async throws -> CalendarPlan {
        CalendarPlan(request, try await situation())
    }

    /// Applies the plan.
    ///
    /// - Returns: what was done, and the number of refused changes.
    func apply() async throws -> (report: CalendarPlan, failed: Int) {
        var plan = try await preview()
        let writes = plan.create + plan.change + plan.notes
        let cancellations = plan.cancel
        let written = try await forEach(writes, atMost: Self.concurrency) { ($0.key, try await put($0)) }
        let cancelled = try await forEach(cancellations, atMost: Self.concurrency) {
            ($0.key, try await cancel($0))
        }
        let results = Dictionary(written + cancelled) { $1 }
        let refusals = (writes + cancellations).compactMap { write -> CalendarFault? in
            guard case .refused(let detail)? = results[write.key] else { return nil }
            return CalendarFault(line: write.line, "The event \(write.key): \(detail)", uid: write.uid)
        }
        plan.unchanged += plan.change.count { results[$0.key] == .over }
        plan.create.removeAll { results[$0.key] != .done }
        plan.change.removeAll { results[$0.key] != .done }
        plan.cancel.removeAll { results[$0.key] != .done }
        plan.problems += refusals
        return (plan, refusals.count)
    }

    // MARK: Reading

    /// The season's events, and other events that already have the keys of new entries.
    private func situation() async throws -> CalendarPlan.Situation {
        var situation = CalendarPlan.Situation(now: Date())
        var cursor: String?
        repeat {
            let list = GrandstandClient.Call.listEvents(season: request.season.rawValue)
            let answer = try await server.answer(to: list.page(limit: 200, after: cursor))
            let page = try ServerAccess.json(of: answer)
            for item in page?["items"]?.elements ?? [] {
                let event = try Self.event(item)
                situation.events[event.key] = event
            }
            situation.now = answer.headers["date"].flatMap(HTTPDate.parse) ?? situation.now
            cursor = page?["nextCursor"]?.string
        } while cursor != nil
        let keys = Array(request.newKeys(beside: situation.events))
        let found = try await forEach(keys, atMost: Self.concurrency) { key -> SeasonEvent? in
            let answer = try await server.answer(to: .getEvent(key.rawValue))
            // An event that the key cannot access is refused when it is written.
            return try [403, 404].contains(answer.status) ? nil : Self.event(ServerAccess.json(of: answer))
        }
        for event in found.compactMap(\.self) { situation.events[event.key] = event }
        return situation
    }

    private static func event(_ json: JSONValue?) throws -> SeasonEvent {
        if let event = json.flatMap(SeasonEvent.init(shown:)) { return event }
        throw StartError(
            "The answer has events of another form, so it is not from Grandstand: is GRANDSTAND_URL correct?")
    }

    // MARK: Writing

    /// The result of a write.
    private enum Result: Sendable, Equatable {
        case done
        /// The event is over and can no longer be changed.
        case over
        /// The refusal in the server's words.
        case refused(String)

        static let changedMeanwhile = refused("Somebody else changed it at the same time; run it again.")
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
        let present = try Self.event(ServerAccess.json(of: answer))
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
}
