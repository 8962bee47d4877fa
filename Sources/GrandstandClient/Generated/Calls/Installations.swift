// Generated from openapi.yaml by `make contract`. Do not edit.

public import GrandstandContract

extension GrandstandClient.Call where Value == GrandstandClient.Registered {
    /// Registers an installation of the app, or changes its state.
    public static func putInstallation(
        _ identity: GrandstandClient.InstallationIdentity, _ draft: GrandstandClient.InstallationDraft
    ) -> Self {
        Self(.putInstallation, "/v1/apps/\(identity)", body: draft).by(identity)
    }

    /// Registers an installation of the app, or changes its state. Takes the body as JSON, so that it may have members
    /// that this version does not know.
    public static func putInstallation(_ identity: GrandstandClient.InstallationIdentity, json: RawJSON) -> Self {
        Self(.putInstallation, "/v1/apps/\(identity)", body: json).by(identity)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Installation {
    /// Shows an installation to its own app.
    public static func getInstallation(_ identity: GrandstandClient.InstallationIdentity) -> Self {
        Self(.getInstallation, "/v1/apps/\(identity)").by(identity)
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Deletes all data of an installation, at once and permanently.
    public static func forgetInstallation(_ identity: GrandstandClient.InstallationIdentity) -> Self {
        Self(.forgetInstallation, "/v1/apps/\(identity)").by(identity)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Registered {
    /// Reports an activity, confirms its start, adds or replaces its update token.
    public static func putActivity(
        _ activityId: String, of identity: GrandstandClient.InstallationIdentity,
        _ draft: GrandstandClient.ActivityDraft
    ) -> Self {
        Self(.putActivity, "/v1/apps/\(identity)/activities/\(activityId)", body: draft).by(identity)
    }

    /// Reports an activity, confirms its start, adds or replaces its update token. Takes the body as JSON, so that it
    /// may have members that this version does not know.
    public static func putActivity(
        _ activityId: String, of identity: GrandstandClient.InstallationIdentity, json: RawJSON
    ) -> Self {
        Self(.putActivity, "/v1/apps/\(identity)/activities/\(activityId)", body: json).by(identity)
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Deletes an activity.
    public static func forgetActivity(_ activityId: String, of identity: GrandstandClient.InstallationIdentity) -> Self
    {
        Self(.forgetActivity, "/v1/apps/\(identity)/activities/\(activityId)").by(identity)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.InstallationStatistics {
    /// Shows numbers of an app's installations.
    public static func installationStatistics(of app: GrandstandClient.AppEnvironment) -> Self {
        Self(.installationStatistics, "/v1/apps/\(app)/installations/statistics")
    }
}
