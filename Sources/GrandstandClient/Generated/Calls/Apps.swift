// Generated from openapi.yaml by `make contract`. Do not edit.

public import GrandstandContract

extension GrandstandClient.Call where Value == GrandstandClient.AppPage {
    /// Lists apps.
    public static func listApps() -> Self {
        Self(.listApps, "/v1/apps")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.App {
    /// Registers an app or changes it.
    public static func putApp(_ bundleId: String, _ draft: GrandstandClient.AppDraft) -> Self {
        Self(.putApp, "/v1/apps/\(bundleId)", body: draft)
    }

    /// Registers an app or changes it. Takes the body as JSON, so that it may have members that this version does not
    /// know.
    public static func putApp(_ bundleId: String, json: RawJSON) -> Self {
        Self(.putApp, "/v1/apps/\(bundleId)", body: json)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.App {
    /// Shows an app, its key files and its quirks.
    public static func getApp(_ bundleId: String) -> Self {
        Self(.getApp, "/v1/apps/\(bundleId)")
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Removes an app that has no channels.
    public static func deleteApp(_ bundleId: String) -> Self {
        Self(.deleteApp, "/v1/apps/\(bundleId)")
    }
}
