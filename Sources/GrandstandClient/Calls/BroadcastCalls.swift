extension GrandstandClient.Call where Value == GrandstandClient.Broadcast {
    /// Accepts an update or the end of an event.
    public static func broadcast(to eventKey: String, _ draft: GrandstandClient.BroadcastDraft) -> Self {
        Self("broadcast", .post, "/v1/events/\(eventKey)/broadcasts", body: draft)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func broadcast(to eventKey: String, json: RawJSON) -> Self {
        Self("broadcast", .post, "/v1/events/\(eventKey)/broadcasts", body: json)
    }

    /// Broadcasts to a channel without an event.
    public static func broadcastToChannel(
        _ id: String, in app: GrandstandClient.AppEnvironment, _ draft: GrandstandClient.BroadcastDraft
    ) -> Self {
        Self("broadcastToChannel", .post, "/v1/apps/\(app)/channels/\(id)/broadcasts", body: draft)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func broadcastToChannel(_ id: String, in app: GrandstandClient.AppEnvironment, json: RawJSON) -> Self
    {
        Self("broadcastToChannel", .post, "/v1/apps/\(app)/channels/\(id)/broadcasts", body: json)
    }

    /// Shows a broadcast and its deliveries.
    public static func getBroadcast(_ id: String) -> Self { Self("getBroadcast", .get, "/v1/broadcasts/\(id)") }
}

extension GrandstandClient.Call where Value == GrandstandClient.BroadcastBatchResult {
    /// Accepts up to 500 broadcasts in one commit, each on its own.
    public static func broadcastMany(_ items: [GrandstandClient.BroadcastItem]) -> Self {
        Self("broadcastMany", .post, "/v1/broadcasts", body: Members(["items": items]))
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func broadcastMany(json: RawJSON) -> Self {
        Self("broadcastMany", .post, "/v1/broadcasts", body: json)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Page<GrandstandClient.Broadcast> {
    /// Lists broadcasts of an event, the newest first.
    ///
    /// - Parameter scheduled: only those that wait for their `sendAt`, the next one first.
    public static func listBroadcasts(
        of eventKey: String, scheduled: Bool? = nil
    ) -> Self {
        Self(
            "listBroadcasts", .get, "/v1/events/\(eventKey)/broadcasts",
            [("scheduled", scheduled)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.BroadcastPreview {
    /// Says what a broadcast would come to, and sends nothing.
    public static func previewBroadcast(to eventKey: String, _ draft: GrandstandClient.BroadcastDraft) -> Self {
        Self("previewBroadcast", .post, "/v1/events/\(eventKey)/broadcasts/preview", body: draft)
            .with("Idempotency-Key", nil)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func previewBroadcast(to eventKey: String, json: RawJSON) -> Self {
        Self("previewBroadcast", .post, "/v1/events/\(eventKey)/broadcasts/preview", body: json)
            .with("Idempotency-Key", nil)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Push {
    /// Starts, updates or ends one activity by its token.
    public static func push(
        to app: GrandstandClient.AppEnvironment, _ draft: GrandstandClient.PushDraft
    ) -> Self {
        Self("push", .post, "/v1/apps/\(app)/pushes", body: draft)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func push(to app: GrandstandClient.AppEnvironment, json: RawJSON) -> Self {
        Self("push", .post, "/v1/apps/\(app)/pushes", body: json)
    }

    /// Shows a push and what has become of it.
    public static func getPush(_ id: String) -> Self { Self("getPush", .get, "/v1/pushes/\(id)") }
}

extension GrandstandClient.Call where Value == Void {
    /// Withdraws a broadcast of which nothing was sent.
    public static func cancelBroadcast(_ id: String) -> Self {
        Self("cancelBroadcast", .delete, "/v1/broadcasts/\(id)")
    }

    /// Withdraws a push of which nothing was sent.
    public static func cancelPush(_ id: String) -> Self { Self("cancelPush", .delete, "/v1/pushes/\(id)") }
}
