// Generated from openapi.yaml by `make contract`. Do not edit.

public import GrandstandContract

extension GrandstandClient.Call where Value == GrandstandClient.Push {
    /// Starts, updates or ends one activity by its token.
    public static func push(to app: GrandstandClient.AppEnvironment, _ draft: GrandstandClient.PushDraft) -> Self {
        Self(.push, "/v1/apps/\(app)/pushes", body: draft)
    }

    /// Starts, updates or ends one activity by its token. Takes the body as JSON, so that it may have members that this
    /// version does not know.
    public static func push(to app: GrandstandClient.AppEnvironment, json: RawJSON) -> Self {
        Self(.push, "/v1/apps/\(app)/pushes", body: json)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Push {
    /// Shows a push and its progress.
    public static func getPush(_ id: String) -> Self {
        Self(.getPush, "/v1/pushes/\(id)")
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Withdraws a push that was not sent.
    public static func cancelPush(_ id: String) -> Self {
        Self(.cancelPush, "/v1/pushes/\(id)")
    }
}
