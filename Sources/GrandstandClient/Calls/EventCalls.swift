public import Foundation

extension GrandstandClient.Call where Value == GrandstandClient.Event {
    /// Declares an event; the server makes its channels so.
    public static func putEvent(_ key: String, _ draft: GrandstandClient.EventDraft) -> Self {
        Self("putEvent", .put, "/v1/events/\(key)", body: draft)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func putEvent(_ key: String, json: RawJSON) -> Self {
        Self("putEvent", .put, "/v1/events/\(key)", body: json)
    }

    /// Shows an event and the channel of each audience.
    public static func getEvent(_ key: String) -> Self { Self("getEvent", .get, "/v1/events/\(key)") }

    /// Changes some of what an event declares.
    ///
    /// - Parameter patch: a JSON Merge Patch (RFC 7396); `null` takes a member away.
    public static func patchEvent(_ key: String, _ patch: RawJSON) -> Self {
        Self("patchEvent", .patch, "/v1/events/\(key)", body: patch)
            .with("Content-Type", "application/merge-patch+json")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Page<GrandstandClient.Event> {
    /// Lists events.
    ///
    /// - Parameter overdue: only events that hold a channel they should not need any more.
    public static func listEvents(
        state: GrandstandClient.EventState? = nil, kind: String? = nil, bundleId: String? = nil, from: Date? = nil,
        to: Date? = nil, overdue: Bool? = nil
    ) -> Self {
        Self(
            "listEvents", .get, "/v1/events",
            [
                ("state", state), ("kind", kind),
                ("bundleId", bundleId), ("from", from), ("to", to),
                ("overdue", overdue),
            ])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.ReopenedEvent {
    /// Takes an event's end or cancellation back.
    ///
    /// - Parameter audiences: those that are opened again; all of them without any.
    public static func reopenEvent(_ key: String, audiences: [GrandstandClient.AudienceSelector]? = nil) -> Self {
        Self("reopenEvent", .post, "/v1/events/\(key)/reopen", body: Members(["audiences": audiences]))
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Cancels an event and retires its channels; with `end` after a last end to all who can be reached.
    public static func cancelEvent(_ key: String, end: Bool? = nil) -> Self {
        Self("cancelEvent", .delete, "/v1/events/\(key)", [("end", end)])
    }

    /// What becomes of an event's broadcasts; `GrandstandClient.stream` reads it.
    public static func streamEvent(_ key: String) -> Self {
        Self("streamEvent", .get, "/v1/events/\(key)/stream").with("Accept", "text/event-stream")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.EventReceipts {
    /// What the sampled phones showed of an event, and how soon after it was accepted.
    public static func eventReceipts(_ key: String) -> Self {
        Self("eventReceipts", .get, "/v1/events/\(key)/receipts")
    }
}
