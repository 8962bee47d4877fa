public import Foundation

extension GrandstandClient.Call {
    fileprivate func by(_ identity: GrandstandClient.InstallationIdentity) -> Self {
        with("Grandstand-Installation-Secret", identity.secret)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Registered {
    /// Registers an installation of the app, or says what it is now: the whole of it.
    public static func putInstallation(
        _ identity: GrandstandClient.InstallationIdentity, _ draft: GrandstandClient.InstallationDraft
    ) -> Self {
        Self("putInstallation", .put, "/v1/apps/\(identity)", body: draft).by(identity)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func putInstallation(_ identity: GrandstandClient.InstallationIdentity, json: RawJSON) -> Self {
        Self("putInstallation", .put, "/v1/apps/\(identity)", body: json).by(identity)
    }

    /// Reports an activity, confirms its start, brings or replaces its update token.
    public static func putActivity(
        _ activityId: String, of identity: GrandstandClient.InstallationIdentity,
        _ draft: GrandstandClient.ActivityDraft
    ) -> Self {
        Self("putActivity", .put, "/v1/apps/\(identity)/activities/\(activityId)", body: draft).by(identity)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func putActivity(
        _ activityId: String, of identity: GrandstandClient.InstallationIdentity, json: RawJSON
    ) -> Self {
        Self("putActivity", .put, "/v1/apps/\(identity)/activities/\(activityId)", body: json).by(identity)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Installation {
    /// Shows an installation to its own app.
    public static func getInstallation(_ identity: GrandstandClient.InstallationIdentity) -> Self {
        Self("getInstallation", .get, "/v1/apps/\(identity)").by(identity)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.RecordedReceipts {
    /// Says what an installation of the sample showed, and when.
    ///
    /// - Parameters:
    ///   - receipts: 1 to 100.
    ///   - sentAt: the app's clock as it sends this.
    public static func recordReceipts(
        _ receipts: [GrandstandClient.Receipt], of identity: GrandstandClient.InstallationIdentity,
        sentAt: Date? = nil
    ) -> Self {
        Self(
            "recordReceipts", .post, "/v1/apps/\(identity)/receipts",
            body: Members(["sentAt": sentAt, "items": receipts])
        ).with("Idempotency-Key", nil).by(identity)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func recordReceipts(of identity: GrandstandClient.InstallationIdentity, json: RawJSON) -> Self {
        Self("recordReceipts", .post, "/v1/apps/\(identity)/receipts", body: json).with("Idempotency-Key", nil).by(
            identity)
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Forgets everything of an installation, at once and for good.
    public static func forgetInstallation(_ identity: GrandstandClient.InstallationIdentity) -> Self {
        Self("forgetInstallation", .delete, "/v1/apps/\(identity)")
            .by(identity)
    }

    /// Forgets an activity.
    public static func forgetActivity(
        _ activityId: String, of identity: GrandstandClient.InstallationIdentity
    ) -> Self {
        Self("forgetActivity", .delete, "/v1/apps/\(identity)/activities/\(activityId)").by(identity)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.InstallationStatistics {
    /// Numbers of an app's installations; lists nobody.
    public static func installationStatistics(of app: GrandstandClient.AppEnvironment) -> Self {
        Self("installationStatistics", .get, "/v1/apps/\(app)/installations/statistics")
    }
}
