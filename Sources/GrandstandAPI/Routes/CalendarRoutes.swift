internal import Calendars
internal import Grandstand
internal import GrandstandService
internal import HTTPTypes
internal import Hummingbird

/// `/v1/calendars`: files of fixtures, and the events they are.
struct CalendarRoutes: Sendable {
    let calendars: CalendarOperations

    var routes: [Route] {
        let one = "/v1/calendars/:name"
        return [
            Route(.put, one, .scope(.organise), put),
            Route(.get, "/v1/calendars", .scope(.organise), query: ["limit", "cursor"], list),
            Route(.get, one, .scope(.organise), get),
            Route(.delete, one, .scope(.organise), delete),
            Route(
                .post, one + "/preview", .scope(.organise), query: ["cancelAll"], bodyLimit: CalendarLimits.bytes,
                keepsAnswers: false, prepare: { try await prepare($0, $1, isRehearsal: true) }),
            Route(
                .post, one + "/sync", .scope(.organise), query: ["cancelAll"], bodyLimit: CalendarLimits.bytes,
                prepare: { try await prepare($0, $1, isRehearsal: false) }),
        ]
    }

    private func put(_ request: Request, _ context: APIContext) async throws -> Response {
        guard let name = CalendarName(rawValue: context.text("name")) else {
            throw Problem.invalid("The path's name is none. \(CalendarName.rule)", at: "name", CalendarName.rule)
        }
        let condition = try request.writeCondition()
        let (calendar, created) = try await calendars.put(
            name, try await request.json(), within: context.reach, by: context.actor, if: condition)
        return .json(calendar, status: created ? .created : .ok, headers: .version(calendar.version))
    }

    private func list(_ request: Request, _ context: APIContext) async throws -> Response {
        .json(try await calendars.store.calendars(try context.query.page(), within: context.reach))
    }

    private func get(_ request: Request, _ context: APIContext) async throws -> Response {
        let calendar = try await calendars.calendar(try context.calendarName(), within: context.reach)
        return .json(calendar, headers: .version(calendar.version))
    }

    private func delete(_ request: Request, _ context: APIContext) async throws -> Response {
        try await calendars.store.delete(
            try context.calendarName(), within: context.reach, by: context.actor, now: calendars.now())
        return .noContent
    }

    /// Has the file before a transaction is open: with an `Idempotency-Key` all that follows is one.
    private func prepare(
        _ request: Request, _ context: APIContext, isRehearsal: Bool
    ) async throws -> Route.Prepared {
        let name = try context.calendarName()
        let (source, cancelAll) = try await request.calendarSource(context)
        let calendar = try await calendars.calendar(name, within: context.reach)
        if case .file = source, request.mediaType != calendar.declaration.format.mediaType {
            throw Problem(
                .unsupportedMediaType,
                "The calendar \(name) is \(calendar.declaration.format.mediaType); send its file as that.")
        }
        // Without a file and without a url to fetch one from, what the last file lacked is meant.
        let isLast = source == .url && cancelAll && calendar.declaration.url == nil
        let file = try await calendars.file(isLast ? .last : source, of: calendar)
        return Route.Prepared(turn: calendars.turns) {
            .json(
                try await calendars.sync(
                    calendar, file, cancelAll: cancelAll, isRehearsal: isRehearsal, within: context.reach,
                    by: context.actor))
        }
    }
}

extension Request {
    /// The body's media type in small letters, without parameters; empty: it has none.
    fileprivate var mediaType: String {
        let type = headers[.contentType]?.split(separator: ";", omittingEmptySubsequences: false).first ?? ""
        return type.lowercased().filter { $0 != " " }
    }

    /// A file, or nothing but whether any number of events may be cancelled: as `cancelAll` in the query, or in a JSON
    /// body.
    ///
    /// - Throws: `unsupported-media-type`, `body-too-large`, `malformed-json`, `invalid-request`, `unknown-field`.
    fileprivate func calendarSource(
        _ context: APIContext
    ) async throws -> (CalendarOperations.Source, cancelAll: Bool) {
        let cancelAll = try context.query.flag("cancelAll")
        switch mediaType {
        case "text/calendar", "text/csv":
            return (.file(try await bytes(upTo: CalendarLimits.bytes)), cancelAll)
        case "", "application/json":
            var fields = JSONFields(try await json(orIfEmpty: "{}"))
            let flag = fields.flag("cancelAll")
            try fields.finish()
            return (.url, flag ?? cancelAll)
        default:
            throw Problem(
                .unsupportedMediaType, "Send the file as text/calendar or text/csv, or no body to have the url fetched."
            )
        }
    }
}

extension APIContext {
    /// The calendar in the path.
    ///
    /// - Throws: `calendar-not-found` for text that is no calendar's name.
    fileprivate func calendarName() throws(Problem) -> CalendarName {
        guard let name = CalendarName(rawValue: text("name")) else {
            throw Problem(.calendarNotFound, "No calendar has this name. \(CalendarName.rule)")
        }
        return name
    }
}
