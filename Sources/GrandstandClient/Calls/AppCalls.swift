extension GrandstandClient.Call where Value == GrandstandClient.Page<GrandstandClient.App> {
    /// Lists apps.
    public static func listApps() -> Self { Self("listApps", .get, "/v1/apps") }
}

extension GrandstandClient.Call where Value == GrandstandClient.Page<GrandstandClient.AppName> {
    /// Lists apps, for a key with the scope lookup only.
    public static func listAppNames() -> Self { Self("listApps", .get, "/v1/apps") }
}

extension GrandstandClient.Call where Value == GrandstandClient.App {
    /// Registers an app or changes it.
    public static func putApp(_ bundleId: String, _ draft: GrandstandClient.AppDraft) -> Self {
        Self("putApp", .put, "/v1/apps/\(bundleId)", body: draft)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func putApp(_ bundleId: String, json: RawJSON) -> Self {
        Self("putApp", .put, "/v1/apps/\(bundleId)", body: json)
    }

    /// Shows an app, its topic, key files and learned quirks.
    public static func getApp(_ bundleId: String) -> Self { Self("getApp", .get, "/v1/apps/\(bundleId)") }
}

extension GrandstandClient.Call where Value == GrandstandClient.AppName {
    /// Shows an app, for a key with the scope lookup only.
    public static func getAppName(_ bundleId: String) -> Self { Self("getApp", .get, "/v1/apps/\(bundleId)") }
}

extension GrandstandClient.Call where Value == Void {
    /// Removes an app that has no channels left.
    public static func deleteApp(_ bundleId: String) -> Self { Self("deleteApp", .delete, "/v1/apps/\(bundleId)") }
}

extension GrandstandClient.Call where Value == GrandstandClient.Quirk {
    /// Corrects what was learned of APNs.
    ///
    /// - Parameter quirk: management-path, unstored-expiration or broadcast-feature.
    public static func putQuirk(_ quirk: String, of app: GrandstandClient.AppEnvironment, value: String) -> Self {
        Self("putQuirk", .put, "/v1/apps/\(app)/quirks/\(quirk)", body: Members(["value": value]))
    }
}
