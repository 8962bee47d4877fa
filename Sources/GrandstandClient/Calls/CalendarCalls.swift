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

        fileprivate var content: (type: String, bytes: Data)? {
            switch self {
            case .fetched: nil
            case .ics(let data): ("text/calendar", data)
            case .csv(let data): ("text/csv", data)
            }
        }
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Page<GrandstandClient.Calendar> {
    /// Lists calendars, in order of their names.
    public static func listCalendars() -> Self { Self("listCalendars", .get, "/v1/calendars") }
}

extension GrandstandClient.Call where Value == GrandstandClient.Calendar {
    /// Declares a calendar; its events stay as they are until it is synced.
    public static func putCalendar(_ name: String, _ draft: GrandstandClient.CalendarDraft) -> Self {
        Self("putCalendar", .put, "/v1/calendars/\(name)", body: draft)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func putCalendar(_ name: String, json: RawJSON) -> Self {
        Self("putCalendar", .put, "/v1/calendars/\(name)", body: json)
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
        reading(file, "previewCalendar", "/v1/calendars/\(name)/preview", cancelAll).with("Idempotency-Key", nil)
    }

    /// Makes the calendar's events what its file says, in one commit.
    ///
    /// - Parameter cancelAll: cancel the events of all entries that vanished, however many they are.
    public static func syncCalendar(
        _ name: String, _ file: GrandstandClient.CalendarFile = .fetched, cancelAll: Bool? = nil
    ) -> Self {
        reading(file, "syncCalendar", "/v1/calendars/\(name)/sync", cancelAll)
    }

    private static func reading(
        _ file: GrandstandClient.CalendarFile, _ operationId: String, _ path: EncodedPath, _ cancelAll: Bool?
    ) -> Self {
        Self(operationId, .post, path, [("cancelAll", cancelAll)], bytes: { file.content?.bytes })
            .with("Content-Type", file.content?.type)
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Forgets a calendar; its events stay.
    public static func deleteCalendar(_ name: String) -> Self {
        Self("deleteCalendar", .delete, "/v1/calendars/\(name)")
    }
}
