internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandServer
internal import JSON

/// `grandstand season`: changes a season's events to match a calendar.
struct SeasonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "season", abstract: "Events from an iCalendar or CSV file.",
        discussion: """
            docs/organising.md describes the members of PLAN. Exits 0 on success, also if nothing changed. Exits 3 if \
            more than a third of the future events would be cancelled: then none is cancelled, unless \
            --accept-removals is given. Exits 4 if some entries were left out; standard error names them. Exits 1 on \
            failure. The next run finishes an interrupted one. Changes that somebody made by hand stay, unless the \
            calendar changes the same member.
            """)

    enum Verb: String, ExpressibleByArgument, CaseIterable {
        case preview, apply
    }

    @OptionGroup var client: ClientOptions
    @Argument(help: "preview shows what apply would do, and changes nothing.") var verb: Verb
    @Argument(help: "A JSON file: how the calendar is read, and which events its entries become.") var plan: String
    @Argument(help: "The calendar: a file, an https URL, or - for standard input. Without it: the source in the plan.")
    var source: String?
    @Flag(help: "Cancel the events of all entries that the calendar cancels or no longer has, however many there are.")
    var acceptRemovals = false
    @Option(help: "The time zone of times whose zone is missing or unknown on this machine.")
    var timeZone: String?

    func validate() throws {
        if let timeZone, TimeZone.named(timeZone) == nil {
            throw ValidationError("--time-zone \(timeZone): there is no such time zone; Europe/Vienna is one.")
        }
    }

    /// Prints the report, and each problem on standard error.
    ///
    /// - Throws: an `ExitCode`, unless everything was done.
    func run() async throws {
        let run = SeasonRun(server: try ServerAccess(), entries: try await readEntries())
        let (report, failed) = try await verb == .apply ? run.apply() : (run.preview(), 0)
        for problem in report.problems { Terminal.note("\(problem)") }
        try client.show(try JSONValue(parsing: report.report, maximumValues: .max))
        if report.holdsBack { throw ExitCode(3) }
        if failed > 0 { throw ExitCode.failure }
        if !report.problems.isEmpty { throw ExitCode(4) }
    }

    /// Reads the plan and the calendar.
    private func readEntries() async throws -> CalendarPlan.Entries {
        let text = try json(plan, "@" + plan)
        let declaration: CalendarDeclaration
        do throws(Problem) {
            declaration = try CalendarDeclaration(try JSONValue(parsing: text))
        } catch {
            let faults = error.errors.map { "\n  \($0.pointer): \($0.detail)" }.joined()
            throw ExitError("\(plan): \(error.detail)\(faults)")
        }
        guard let source = source ?? declaration.source else {
            throw ExitError("Name the calendar's file or URL, or write it into \(plan) as source.")
        }
        let file = try await calendar(from: source)
        do throws(CalendarFault) {
            return try CalendarPlan.Entries(
                file, declaration, in: timeZone.flatMap(TimeZone.named), acceptsManyRemovals: acceptRemovals)
        } catch {
            throw ExitError("\(source): line \(error.line ?? 1): \(error.detail)")
        }
    }
}

/// One run of a season. The calendar was already read. The run changes the server's events to match the calendar.
struct SeasonRun: Sendable {
    let server: ServerAccess
    let entries: CalendarPlan.Entries

    /// The most requests at a time.
    private static let concurrency = 8

    /// Applies the plan.
    ///
    /// - Returns: what was done, and the number of refused changes.
    func apply() async throws -> (report: CalendarPlan, failed: Int) {
        var plan = try await preview()
        let writes = plan.create + plan.change + plan.notes
        let cancellations = plan.cancel
        let written = try await inParallel(writes, atMost: Self.concurrency) { ($0.key, try await put($0)) }
        let cancelled = try await inParallel(cancellations, atMost: Self.concurrency) {
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

    /// What a run would do with the season's events, and with other events that already have the keys of new entries.
    func preview() async throws -> CalendarPlan {
        var events: [EventKey: PresentEvent] = [:]
        var now = Date()
        var cursor: String?
        repeat {
            let list = GrandstandClient.Call.listEvents(season: entries.season)
            let answer = try await server.answer(to: list.page(limit: 200, after: cursor))
            let page = try ServerAccess.json(of: answer)
            for item in page?["items"]?.elements ?? [] {
                let event = try Self.event(item)
                events[event.key] = event
            }
            now = answer.headers["date"].flatMap(HTTPDate.parse) ?? now
            cursor = page?["nextCursor"]?.string
        } while cursor != nil
        let keys = Array(entries.newKeys(beside: events))
        let found = try await inParallel(keys, atMost: Self.concurrency) { key -> PresentEvent? in
            let answer = try await server.answer(to: .getEvent(key.rawValue))
            // An event that the key cannot access is refused when it is written.
            return try [403, 404].contains(answer.status) ? nil : Self.event(ServerAccess.json(of: answer))
        }
        for event in found.compactMap(\.self) { events[event.key] = event }
        return CalendarPlan(entries, events, now: now)
    }

    private static func event(_ json: JSONValue?) throws -> PresentEvent {
        if let event = json.flatMap(PresentEvent.init(shown:)) { return event }
        throw ExitError(
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
    private func tag(of event: PresentEvent) async throws -> String? {
        let answer = try await server.answer(to: .getEvent(event.key.rawValue))
        guard answer.status != 404 else { return nil }
        let present = try Self.event(ServerAccess.json(of: answer))
        return present.document == event.document && present.state == event.state
            && present.reopenedAt == event.reopenedAt
            ? answer.entityTag : nil
    }

    /// - Throws: `ExitError` for an error that affects every request, such as an expired key.
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

/// The text of a calendar. The source is a file, a URL, or `-` for standard input.
///
/// - Throws: `ExitError` with the reason why the calendar cannot be read.
func calendar(from source: String) async throws -> [UInt8] {
    guard source.contains("://"), let url = URL(string: source) else {
        return try content(of: source == "-" ? source : "@" + source)
    }
    let isLocal = ["127.0.0.1", "localhost", "::1"].contains(url.host() ?? "")
    guard ["https", isLocal ? "http" : "https"].contains(url.scheme?.lowercased()) else {
        throw ExitError("\(source): only https URLs are allowed, so that nobody can change the calendar on its way")
    }
    let accepted = ["Accept": "text/calendar, text/csv, */*;q=0.1"]
    let request = GrandstandClient.Request(method: "GET", url: url, headers: accepted, timeout: 60)
    // The reader refuses a calendar that is longer.
    let transport = URLSessionTransport(longestAnswer: 60, largestAnswer: CalendarLimits.bytes + 1)
    do {
        let answer = try await transport.open(request)
        guard answer.status == 200 else {
            let target = answer.headers["location"].map { "; it redirects to \($0), use that address" } ?? ""
            throw ExitError("\(source): HTTP \(answer.status)\(target)")
        }
        return Array(answer.body)
    } catch let error as URLError {
        throw ExitError("\(source): \(error.localizedDescription)")
    }
}
