// Generated from openapi.yaml by `make contract`. Do not edit.

public import GrandstandContract

extension GrandstandClient.Call where Value == GrandstandClient.StartReport {
    /// Starts the event's Live Activity now, for everyone who follows it.
    public static func startEvent(_ key: String, dryRun: Bool? = nil) -> Self {
        Self(.startEvent, "/v1/events/\(key)/starts", body: Contract.StartOrder(dryRun: dryRun))
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.StartReport {
    /// Reports on the event's start, in all and for each audience.
    public static func getStart(_ key: String) -> Self {
        Self(.getStart, "/v1/events/\(key)/starts")
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Stops an event's start: pushes that were not sent yet are not sent.
    public static func stopStart(_ key: String) -> Self {
        Self(.stopStart, "/v1/events/\(key)/starts")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.TopicPage {
    /// Lists the topics that installations follow, the most followed first.
    public static func listTopics(in app: GrandstandClient.AppEnvironment) -> Self {
        Self(.listTopics, "/v1/apps/\(app)/topics")
    }
}
