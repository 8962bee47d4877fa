// Generated from openapi.yaml by `make contract`. Do not edit.

public import GrandstandContract

extension GrandstandClient.Call where Value == GrandstandClient.Broadcast {
    /// Sends to a channel without an event.
    public static func broadcastToChannel(
        _ id: String, in app: GrandstandClient.AppEnvironment, _ draft: GrandstandClient.BroadcastDraft
    ) -> Self {
        Self(.broadcastToChannel, "/v1/apps/\(app)/channels/\(id)/broadcasts", body: draft)
    }

    /// Sends to a channel without an event. Takes the body as JSON, so that it may have members that this version does
    /// not know.
    public static func broadcastToChannel(_ id: String, in app: GrandstandClient.AppEnvironment, json: RawJSON) -> Self
    {
        Self(.broadcastToChannel, "/v1/apps/\(app)/channels/\(id)/broadcasts", body: json)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Broadcast {
    /// Sends an update or the end of an event.
    public static func broadcast(to eventKey: String, _ draft: GrandstandClient.BroadcastDraft) -> Self {
        Self(.broadcast, "/v1/events/\(eventKey)/broadcasts", body: draft)
    }

    /// Sends an update or the end of an event. Takes the body as JSON, so that it may have members that this version
    /// does not know.
    public static func broadcast(to eventKey: String, json: RawJSON) -> Self {
        Self(.broadcast, "/v1/events/\(eventKey)/broadcasts", body: json)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.BroadcastPage {
    /// Lists broadcasts of an event, the newest first.
    public static func listBroadcasts(of eventKey: String, scheduled: Bool? = nil) -> Self {
        Self(.listBroadcasts, "/v1/events/\(eventKey)/broadcasts", [("scheduled", scheduled)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.BroadcastPreview {
    /// Shows what a broadcast would send, and sends nothing.
    public static func previewBroadcast(to eventKey: String, _ draft: GrandstandClient.BroadcastDraft) -> Self {
        Self(.previewBroadcast, "/v1/events/\(eventKey)/broadcasts/preview", body: draft)
    }

    /// Shows what a broadcast would send, and sends nothing. Takes the body as JSON, so that it may have members that
    /// this version does not know.
    public static func previewBroadcast(to eventKey: String, json: RawJSON) -> Self {
        Self(.previewBroadcast, "/v1/events/\(eventKey)/broadcasts/preview", body: json)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.StateAnswer {
    /// Reports the state of an event, as often as a feed has it.
    public static func putState(_ key: String, _ draft: GrandstandClient.StateDraft) -> Self {
        Self(.putState, "/v1/events/\(key)/state", body: draft)
    }

    /// Reports the state of an event, as often as a feed has it. Takes the body as JSON, so that it may have members
    /// that this version does not know.
    public static func putState(_ key: String, json: RawJSON) -> Self {
        Self(.putState, "/v1/events/\(key)/state", body: json)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.StatePreview {
    /// Shows what a state would send, and sends nothing.
    public static func previewState(_ key: String, _ draft: GrandstandClient.StateDraft) -> Self {
        Self(.previewState, "/v1/events/\(key)/state/preview", body: draft)
    }

    /// Shows what a state would send, and sends nothing. Takes the body as JSON, so that it may have members that this
    /// version does not know.
    public static func previewState(_ key: String, json: RawJSON) -> Self {
        Self(.previewState, "/v1/events/\(key)/state/preview", body: json)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.BroadcastBatchResult {
    /// Sends up to 500 broadcasts in one request. Each is accepted or refused by itself, and all accepted ones are
    /// stored in one commit.
    public static func broadcastMany(_ items: [Contract.BroadcastItem]) -> Self {
        Self(.broadcastMany, "/v1/broadcasts", body: Contract.BroadcastBatch(items: items))
    }

    /// Sends up to 500 broadcasts in one request. Each is accepted or refused by itself, and all accepted ones are
    /// stored in one commit. Takes the body as JSON, so that it may have members that this version does not know.
    public static func broadcastMany(json: RawJSON) -> Self {
        Self(.broadcastMany, "/v1/broadcasts", body: json)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Broadcast {
    /// Shows a broadcast and its deliveries.
    public static func getBroadcast(_ id: String) -> Self {
        Self(.getBroadcast, "/v1/broadcasts/\(id)")
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Withdraws a broadcast that was sent to nobody yet.
    public static func cancelBroadcast(_ id: String) -> Self {
        Self(.cancelBroadcast, "/v1/broadcasts/\(id)")
    }
}
