package import FoundationEssentials

/// Stores installations of apps, as the apps register them. Each is authenticated by its own secret. The hash of the
/// secret is stored at the first registration.
package protocol InstallationStore: Sendable {
    /// Stores the state that an installation's app reports. A repetition changes nothing.
    ///
    /// If the installation now follows an event whose start is running, the same commit puts the installation into the
    /// queue of the start.
    ///
    /// - Returns: whether the installation is new.
    /// - Throws: `app-not-found`; `wrong-installation-secret`; `stale-installation` for a lower sequence than the
    ///   stored one.
    func put(_ state: InstallationState, of id: InstallationID, secret: String, now: Date) async throws -> Bool

    /// An installation as it is stored.
    ///
    /// - Throws: `app-not-found`; `installation-not-found`; `wrong-installation-secret`.
    func installation(_ id: InstallationID, secret: String) async throws -> KnownInstallation

    /// Deletes everything about an installation. An unknown installation is no error.
    ///
    /// - Throws: `app-not-found`; `wrong-installation-secret`.
    func forget(_ id: InstallationID, secret: String) async throws

    /// Records an activity as its app reports it, and confirms the start that created it, even if APNs' answer to that
    /// start was lost. A new or changed token puts the activity into its event's crowd. A token that APNs refused is
    /// used again when it is reported again. The activities of an installation are limited
    /// (`DeviceBounds.activities`).
    ///
    /// - Returns: whether the activity is new.
    /// - Throws: `app-not-found`; `installation-not-found`; `event-not-found`, also for an event without an audience of
    ///   the app in its environment; `wrong-installation-secret`.
    func put(
        _ activity: DeviceActivity, of id: InstallationID, secret: String, now: Date
    ) async throws -> Bool

    /// Deletes an activity. An unknown activity is no error.
    ///
    /// - Throws: `app-not-found`; `installation-not-found`; `wrong-installation-secret`.
    func forget(activity: String, of id: InstallationID, secret: String) async throws

    /// Counts of an app's installations in an environment: systems, locales, frequent pushes, tokens by state. The
    /// counts never list people.
    ///
    /// - Throws: `app-not-found`.
    func statistics(of app: AppEnvironment) async throws -> InstallationStatistics
}

/// The counts of an app's installations.
package struct InstallationStatistics: Sendable, Hashable {
    package var installations = 0
    /// Installations by major version of iOS.
    package var systems: [Int: Int] = [:]
    /// Installations by language, the first subtag; `und` for installations without a locale. Only the most frequent
    /// languages are listed (`maximumNames`).
    package var locales: [String: Int] = [:]
    package var liveActivitiesDisabled = 0
    package var frequentPushesDisabled = 0
    /// Start tokens of the most frequent types of attributes: the number of tokens in use, and of those that must be
    /// registered again.
    package var startTokens: [String: Tokens] = [:]
    /// The tokens of visible activities.
    package var updateTokens = Tokens()

    /// The most languages and types that are listed. Apps choose their names, so there may be any number.
    package static let maximumNames = 100

    package struct Tokens: Sendable, Hashable {
        package var active: Int
        package var suspect: Int

        package init(active: Int = 0, suspect: Int = 0) {
            self.active = active
            self.suspect = suspect
        }
    }

    package init() {}
}
