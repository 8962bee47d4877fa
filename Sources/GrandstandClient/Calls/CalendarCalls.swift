public import Foundation

extension GrandstandClient {
    /// The file that a calendar is previewed or synced with.
    public enum CalendarFile: Sendable, Hashable {
        /// The server fetches the calendar's url.
        case fetched
        /// iCalendar, as it is.
        case ics(Data)
        /// CSV, as it is.
        case csv(Data)

        var body: (@Sendable () throws -> Data)? {
            switch self {
            case .fetched: nil
            case .ics(let data), .csv(let data): { data }
            }
        }

        var mediaType: String? {
            switch self {
            case .fetched: nil
            case .ics: "text/calendar"
            case .csv: "text/csv"
            }
        }
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Page<GrandstandClient.Calendar> {
    /// Lists calendars, in order of their names.
    public static func listCalendars(limit: Int? = nil, cursor: String? = nil) -> Self {
        Self("listCalendars", .get, "/v1/calendars", [("limit", limit?.description), ("cursor", cursor)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Calendar {
    /// Declares a calendar; its events stay as they are until it is synced.
    public static func putCalendar(_ name: String, _ draft: GrandstandClient.CalendarDraft) -> Self {
        Self("putCalendar", .put, "/v1/calendars/\(name)", body: draft.body)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func putCalendar(_ name: String, json: RawJSON) -> Self {
        Self("putCalendar", .put, "/v1/calendars/\(name)", body: { json.bytes })
    }

    /// Shows a calendar and how its last sync went.
    public static func getCalendar(_ name: String) -> Self { Self("getCalendar", .get, "/v1/calendars/\(name)") }
}

extension GrandstandClient.Call where Value == GrandstandClient.CalendarReport {
    /// Shows what a sync would do; nothing is changed.
    ///
    /// - Parameter cancelAll: cancel the events of all entries that vanished, however many they are.
    public static func previewCalendar(
        _ name: String, _ file: GrandstandClient.CalendarFile = .fetched, cancelAll: Bool? = nil
    ) -> Self {
        Self(
            "previewCalendar", .post, "/v1/calendars/\(name)/preview", [("cancelAll", cancelAll?.description)],
            body: file.body
        ).with("Idempotency-Key", nil).with("Content-Type", file.mediaType)
    }

    /// Makes the calendar's events what its file says, in one commit.
    ///
    /// - Parameter cancelAll: cancel the events of all entries that vanished, however many they are.
    public static func syncCalendar(
        _ name: String, _ file: GrandstandClient.CalendarFile = .fetched, cancelAll: Bool? = nil
    ) -> Self {
        Self(
            "syncCalendar", .post, "/v1/calendars/\(name)/sync", [("cancelAll", cancelAll?.description)],
            body: file.body
        ).with("Content-Type", file.mediaType)
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Forgets a calendar; its events stay.
    public static func deleteCalendar(_ name: String) -> Self {
        Self("deleteCalendar", .delete, "/v1/calendars/\(name)")
    }
}
