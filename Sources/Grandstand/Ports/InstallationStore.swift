package import FoundationEssentials

/// Installations of apps, as those register themselves. Each is proved by a secret of its own, of which a hash is kept
/// from its first registration on.
package protocol InstallationStore: Sendable {
    /// Makes an installation what its app says it is. A repeat of what is known changes nothing.
    ///
    /// A run of a start that is open and that it follows now gets it in its queue, in the same commit.
    ///
    /// - Returns: whether it was not known before.
    /// - Throws: `app-not-found`; `wrong-installation-secret`; `stale-installation` for a lower sequence than known.
    func put(_ state: InstallationState, of id: InstallationID, secret: String, now: Date) async throws -> Bool

    /// An installation as the database has it.
    ///
    /// - Throws: `app-not-found`; `installation-not-found`; `wrong-installation-secret`.
    func installation(_ id: InstallationID, secret: String) async throws -> KnownInstallation

    /// Forgets everything of an installation, at once and for good. One that is not known is no error.
    ///
    /// - Throws: `app-not-found`; `wrong-installation-secret`.
    func forget(_ id: InstallationID, secret: String) async throws

    /// Records an activity as its app reports it, and confirms the start that made it, also one whose answer APNs never
    /// gave. A token that comes or changes puts it into its event's crowd; one that was refused is used again when it is
    /// reported again. Of an installation's activities only so many are kept (`DeviceBounds.ofActivities`).
    ///
    /// - Parameter isSampled: whether the installation is asked for receipts.
    /// - Returns: whether it was not known before.
    /// - Throws: `app-not-found`; `installation-not-found`; `event-not-found`, also for an event without an audience of the
    ///   app in its environment; `wrong-installation-secret`.
    func put(
        _ activity: DeviceActivity, of id: InstallationID, secret: String, isSampled: Bool, now: Date
    ) async throws -> Bool

    /// Forgets an activity; one that is not known is no error.
    ///
    /// - Throws: `app-not-found`; `installation-not-found`; `wrong-installation-secret`.
    func forget(activity: String, of id: InstallationID, secret: String) async throws

    /// Systems, locales, frequent pushes, tokens by state, of an app in an environment. Never lists people.
    ///
    /// - Throws: `app-not-found`.
    func statistics(of app: AppEnvironment) async throws -> InstallationStatistics
}

/// Numbers of an app's installations.
package struct InstallationStatistics: Sendable, Hashable {
    package var installations = 0
    /// By major version.
    package var systems: [Int: Int] = [:]
    /// By language, the first subtag; `und` of those that named none. The most frequent.
    package var locales: [String: Int] = [:]
    package var liveActivitiesDisabled = 0
    package var frequentPushesDisabled = 0
    /// Start tokens by type of attributes, the most frequent: those that are used, and those that wait to be registered
    /// again.
    package var startTokens: [String: Tokens] = [:]
    /// Of activities that are shown.
    package var updateTokens = Tokens()

    /// Languages and types that are told: apps name them, so there may be any number.
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
