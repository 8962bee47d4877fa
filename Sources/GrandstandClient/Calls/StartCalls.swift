extension GrandstandClient.Call where Value == GrandstandClient.StartReport {
    /// Starts the event's Live Activity for everyone who follows, now instead of at its time; with `dryRun` only counts.
    public static func startEvent(_ key: String, dryRun: Bool? = nil) -> Self {
        Self("startEvent", .post, "/v1/events/\(key)/starts", body: Members(["dryRun": dryRun]))
    }

    /// What has become of the event's start.
    public static func getStart(_ key: String) -> Self { Self("getStart", .get, "/v1/events/\(key)/starts") }
}

extension GrandstandClient.Call where Value == Void {
    /// Stops what of the event's start has not gone.
    public static func stopStart(_ key: String) -> Self { Self("stopStart", .delete, "/v1/events/\(key)/starts") }
}

extension GrandstandClient.Call where Value == GrandstandClient.Page<GrandstandClient.FollowedTopic> {
    /// Lists what installations follow, the most followed first.
    public static func listTopics(
        in app: GrandstandClient.AppEnvironment
    ) -> Self {
        Self("listTopics", .get, "/v1/apps/\(app)/topics")
    }
}
