internal import FoundationEssentials
internal import Grandstand

/// `/console/season`: events by day, and how they come to be.
struct SeasonRoutes: RouteGroup {
    let apps: any AppStore
    let channels: any ChannelStore
    let events: any EventStore
    let calendars: any CalendarStore
    let tenure: ChannelTenure

    /// Events that are read for one page.
    private static let maximumEvents = 2_000
    /// Seconds before the first day at which events may have begun that hold places still.
    private static let before: TimeInterval = 2 * 86_400

    var routes: [PageRoute] {
        [PageRoute("/season", .organise, show), PageRoute("/season/declare", .organise, askForEvent)]
    }

    var actions: [ActionRoute] { [ActionRoute("/season/declare", .organise, declare)] }

    private func show(_ visit: Visit) async throws -> PageRoute.Answer {
        let first = SeasonDays.midnight(try visit.query.date("from") ?? visit.now)
        let reach = visit.reach
        var contents = Season.Contents()
        var filter = EventFilter(
            from: first.addingTimeInterval(-Self.before), to: first.addingTimeInterval(Double(Season.length) * 86_400),
            within: reach)
        (contents.events, contents.isCut) = try await all(filter, visit.now)
        filter = EventFilter(overdueBy: tenure, within: reach)
        contents.overdue = try await events.events(where: filter, PageRequest(limit: 50, cursor: nil), now: visit.now)
            .items
        contents.quotas = try await channels.quotas(now: visit.now, tenure: tenure).compactMap {
            $0.shown(within: reach)
        }
        contents.showsForecasts = visit.key.holds(.operate)
        contents.calendars = try await calendars.calendars(PageRequest(limit: 100, cursor: nil), within: reach)
        return .page(Season(contents, from: first, tenure: tenure, now: visit.now))
    }

    private func all(_ filter: EventFilter, _ now: Date) async throws -> ([Event], isCut: Bool) {
        var found: [Event] = []
        var cursor: String?
        repeat {
            let page = try await events.events(where: filter, PageRequest(limit: 200, cursor: cursor), now: now)
            found += page.items
            cursor = page.nextCursor
        } while cursor != nil && found.count < Self.maximumEvents
        return (found, cursor != nil)
    }

    private func askForEvent(_ visit: Visit) async throws -> PageRoute.Answer {
        .page(NewEvent(EventForm(), apps: try await known(visit)))
    }

    private func known(_ visit: Visit) async throws -> [App] {
        try await apps.apps(PageRequest(limit: 50, cursor: nil), within: visit.reach).items
    }

    private func declare(_ submission: Submission) async throws -> PageRoute.Answer {
        let draft = EventForm(submission.fields)
        let apps = try await known(submission.visit)
        let (body, found) = draft.body()
        var faults = found
        let key = EventKey(rawValue: draft.key)
        if key == nil { faults.append(.init(pointer: "key", detail: EventKey.rule)) }
        guard let key, faults.isEmpty else {
            return .refused(NewEvent(draft, apps: apps, faults: faults), status: 422)
        }
        let answer = try await submission.write(APICall("PUT", APIPath.event(key), body: body, ifNoneMatch: "*"))
        if let problem = answer.problem {
            return .refused(NewEvent(draft, apps: apps, refusal: problem), status: problem.status)
        }
        return .done(ConsolePath.event(key), notice: "It is declared; its channels are made when their time comes.")
    }
}

/// `/console/calendars`: files of fixtures, looked at before they are applied.
struct CalendarRoutes: RouteGroup {
    let calendars: any CalendarStore

    /// A file of 4 MiB, and what encoding makes of it.
    private static let formLimit = 14 * 1_024 * 1_024

    var routes: [PageRoute] {
        [
            PageRoute("/calendars", .organise) { _ in .page(NewCalendar()) },
            PageRoute("/calendars/:name", .organise) { visit in .page(CalendarPage(try await calendar(visit))) },
            PageRoute("/calendars/:name/delete", .organise, askToDelete),
        ]
    }

    var actions: [ActionRoute] {
        [
            ActionRoute("/calendars", .organise, declare),
            ActionRoute("/calendars/:name/preview", .organise, bodyLimit: Self.formLimit, preview),
            ActionRoute("/calendars/:name/apply", .organise, bodyLimit: Self.formLimit, apply),
            ActionRoute("/calendars/:name/delete", .organise, delete),
        ]
    }

    private func calendar(_ visit: Visit) async throws -> FixtureCalendar {
        guard let name = CalendarName(rawValue: visit.text("name")) else {
            throw Problem(.calendarNotFound, "No calendar has this name. \(CalendarName.rule)")
        }
        guard let calendar = try await calendars.calendar(name) else { throw Problem.calendarNotFound(name) }
        guard visit.reach.covers(eventOf: calendar.declaration.apps.map(\.bundleID)) else { throw visit.reach.refusal }
        return calendar
    }

    private func askToDelete(_ visit: Visit) async throws -> PageRoute.Answer {
        let calendar = try await calendar(visit)
        return .page(
            Question(
                "Delete the calendar \(calendar.name)?",
                [
                    "The server forgets what is declared and which event each entry of its file became. It fetches and syncs "
                        + "it no more.",
                    "Its events stay as they are, with their channels: cancel those by hand that shall not be.",
                    "Declared anew, with the same keys, it takes over what events there are.",
                ], choices: [Question.Option("Delete it")], action: ConsolePath.calendar(calendar.name, "delete"),
                back: ("Keep it", ConsolePath.calendar(calendar.name))))
    }

    private func delete(_ submission: Submission) async throws -> PageRoute.Answer {
        let name = submission.visit.segment("name")
        try await submission.delete("/v1/calendars/\(name)")
        return .done(ConsolePath.season, notice: "The calendar is deleted; its events stay as they are.")
    }

    private func declare(_ submission: Submission) async throws -> PageRoute.Answer {
        let (typed, declaration) = (submission.fields["name"] ?? "", submission.fields.json("declaration"))
        guard let name = CalendarName(rawValue: typed) else {
            let problem = APIProblem(status: 422, title: "Invalid", detail: CalendarName.rule)
            return .refused(NewCalendar(name: typed, declaration: declaration, refusal: problem), status: 422)
        }
        let answer = try await submission.write(
            APICall("PUT", APIPath.calendar(name), body: Array(declaration.utf8), ifNoneMatch: "*"))
        if let problem = answer.problem {
            return .refused(
                NewCalendar(name: typed, declaration: declaration, refusal: problem), status: problem.status)
        }
        return .done(ConsolePath.calendar(name), notice: "It is declared. Now look at what its file would change.")
    }

    private func preview(_ submission: Submission) async throws -> PageRoute.Answer {
        let (calendar, file, cancelsAll) = try await source(submission)
        let answer = try await call("preview", calendar, file, cancelsAll, submission)
        if let problem = answer.problem {
            return .refused(CalendarPage(calendar, cancelsAll: cancelsAll, refusal: problem), status: problem.status)
        }
        return .page(
            CalendarPage(calendar, changes: try CalendarChanges(answer), file: file, cancelsAll: cancelsAll))
    }

    private func apply(_ submission: Submission) async throws -> PageRoute.Answer {
        let (calendar, file, cancelsAll) = try await source(submission)
        let answer = try await call("sync", calendar, file, cancelsAll, submission)
        if let problem = answer.problem {
            return .refused(CalendarPage(calendar, cancelsAll: cancelsAll, refusal: problem), status: problem.status)
        }
        return .done(ConsolePath.calendar(calendar.name), notice: "Applied: \(try CalendarChanges(answer).summary)")
    }

    /// The file that was chosen, or comes back from the page on which it was looked at.
    private func source(
        _ submission: Submission
    ) async throws -> (calendar: FixtureCalendar, file: [UInt8]?, cancelsAll: Bool) {
        let calendar = try await calendar(submission.visit)
        let fields = submission.fields
        let cancelsAll = fields["cancelAll"] == "true"
        if fields["fetch"] == "yes" { return (calendar, nil, cancelsAll) }
        if let copy = fields["copy"].flatMap({ Base64URL.bytes($0) }) { return (calendar, copy, cancelsAll) }
        let file = fields.entries.last { $0.name == "file" }?.value ?? ""
        guard !file.isEmpty else { throw Problem(.invalidRequest, "Choose the calendar's file first.") }
        // What a form's reader could not read as UTF-8 it has replaced.
        guard !file.unicodeScalars.contains("\u{FFFD}") else {
            throw Problem(.invalidRequest, "The file is not UTF-8. Save it as UTF-8, and send it again.")
        }
        return (calendar, Array(file.utf8), cancelsAll)
    }

    private func call(
        _ verb: String, _ calendar: FixtureCalendar, _ file: [UInt8]?, _ cancelsAll: Bool, _ submission: Submission
    ) async throws -> APIAnswer {
        let path = APIPath.calendar(calendar.name, "/\(verb)" + (cancelsAll ? "?cancelAll=true" : ""))
        guard let file else { return try await submission.call(APICall("POST", path)) }
        return try await submission.call(
            APICall(
                "POST", path, body: file,
                contentType: calendar.formatWord == "csv" ? "text/csv" : "text/calendar"))
    }
}
