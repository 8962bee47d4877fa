// Generated from openapi.yaml by `make contract`. Do not edit.

public import Foundation
public import GrandstandContract

extension GrandstandClient.Call where Value == GrandstandClient.EventPage {
    /// Lists events in the order in which they were declared.
    public static func listEvents(
        state: Contract.EventState? = nil, kind: String? = nil, season: String? = nil, bundleId: String? = nil,
        from: Date? = nil, to: Date? = nil, overdue: Bool? = nil
    ) -> Self {
        Self(
            .listEvents, "/v1/events",
            [
                ("state", state), ("kind", kind), ("season", season), ("bundleId", bundleId), ("from", from),
                ("to", to), ("overdue", overdue),
            ])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Event {
    /// Declares an event. The server creates its channels.
    public static func putEvent(_ key: String, _ draft: GrandstandClient.EventDraft) -> Self {
        Self(.putEvent, "/v1/events/\(key)", body: draft)
    }

    /// Declares an event. The server creates its channels. Takes the body as JSON, so that it may have members that
    /// this version does not know.
    public static func putEvent(_ key: String, json: RawJSON) -> Self {
        Self(.putEvent, "/v1/events/\(key)", body: json)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Event {
    /// Shows an event and the channel of each audience.
    public static func getEvent(_ key: String) -> Self {
        Self(.getEvent, "/v1/events/\(key)")
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Cancels an event and retires its channels.
    public static func cancelEvent(_ key: String, end: Bool? = nil) -> Self {
        Self(.cancelEvent, "/v1/events/\(key)", [("end", end)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Event {
    /// Changes some members of an event.
    public static func patchEvent(_ key: String, _ patch: RawJSON) -> Self {
        Self(.patchEvent, "/v1/events/\(key)", body: patch)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.ReopenedEvent {
    /// Takes an event's end or cancellation back.
    public static func reopenEvent(_ key: String, audiences: [Contract.AudienceSelector]? = nil) -> Self {
        Self(.reopenEvent, "/v1/events/\(key)/reopen", body: Contract.ReopenOrder(audiences: audiences))
    }
}
