public import Foundation

extension GrandstandClient.Call where Value == GrandstandClient.Lookup {
    /// The channel of an event; `GrandstandClient.lookup` waits and uses the cache, too.
    public static func lookup(
        _ key: String, in app: GrandstandClient.AppEnvironment, variant: String? = nil, contentState: Bool = false
    ) -> Self {
        Self(
            "lookup", .get, "/v1/lookup/\(app)/\(key)",
            [("include", contentState ? "contentState" : nil), ("variant", variant)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Page<GrandstandClient.Followable> {
    /// The events that an app may offer to follow, by their beginning.
    public static func lookupList(
        in app: GrandstandClient.AppEnvironment, topic: String? = nil, from: Date? = nil, to: Date? = nil,
        state: GrandstandClient.EventState? = nil, variant: String? = nil
    ) -> Self {
        Self(
            "lookupList", .get, "/v1/lookup/\(app)",
            [("topic", topic), ("from", from), ("to", to), ("state", state), ("variant", variant)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.LookupBatchAnswer {
    /// The channels of up to 100 events.
    public static func lookupMany(
        _ keys: [String], in app: GrandstandClient.AppEnvironment, variant: String? = nil
    ) -> Self {
        Self(
            "lookupMany", .post, "/v1/lookup/\(app)", [("variant", variant)],
            body: Members(["eventKeys": keys])
        ).with("Idempotency-Key", nil)
    }
}
