// Generated from openapi.yaml by `make contract`. Do not edit.

public import Foundation
public import GrandstandContract

extension GrandstandClient.Call where Value == GrandstandClient.Lookup {
    /// Finds the channel of an event, for an app that starts a Live Activity.
    public static func lookup(
        _ key: String, in app: GrandstandClient.AppEnvironment, include: Contract.LookupInclude? = nil,
        variant: String? = nil
    ) -> Self {
        Self(.lookup, "/v1/lookup/\(app)/\(key)", [("include", include), ("variant", variant)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.FollowablePage {
    /// Lists the events that an app may offer to follow, by startsAt.
    public static func lookupList(
        in app: GrandstandClient.AppEnvironment, topic: String? = nil, from: Date? = nil, to: Date? = nil,
        state: Contract.FollowableState? = nil, variant: String? = nil
    ) -> Self {
        Self(
            .lookupList, "/v1/lookup/\(app)",
            [("topic", topic), ("from", from), ("to", to), ("state", state), ("variant", variant)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.LookupBatchAnswer {
    /// Finds the channels of up to 100 events.
    public static func lookupMany(_ keys: [String], in app: GrandstandClient.AppEnvironment, variant: String? = nil)
        -> Self
    {
        Self(.lookupMany, "/v1/lookup/\(app)", [("variant", variant)], body: Contract.LookupBatch(eventKeys: keys))
    }
}
