package import APNsWire
package import FoundationEssentials

/// An iOS app whose channels this server manages.
package struct App: Sendable, Hashable {
    package var bundleID: BundleID
    package var name: String
    /// The credentials of all environments without an entry in `overrides`.
    package var credentials: Credentials
    /// Environments with another team or key. Since February 2025 Apple also issues keys that are valid in one
    /// environment only.
    package var overrides: [APNsEnvironment: Override]
    /// The most channels that Grandstand may have in one environment; Apple's own limit is 10,000.
    package var channelLimit: Int
    package var createdAt: Date
    package var updatedAt: Date
    /// When an admin deleted the app. The rest of its history is being removed. `nil`: it is not deleted.
    package var deletingSince: Date?
    /// Changes with every write of the app.
    package var version: Int
    /// How the console shows the app's `contentState`; `nil`: as JSON.
    package var preview: AppPreview?
    /// How APNs differs from its documentation for the app.
    package var quirks: [Quirk] = []
    /// The refusals that the replicas received for the app's keys.
    package var keyRefusals: [APNsEnvironment: KeyRefusal] = [:]

    package init(
        bundleID: BundleID, name: String, credentials: Credentials,
        overrides: [APNsEnvironment: Override] = [:], channelLimit: Int = APNsLimits.channels,
        createdAt: Date = .distantPast, updatedAt: Date = .distantPast, version: Int = 0,
        preview: AppPreview? = nil
    ) {
        self.bundleID = bundleID
        self.name = name
        self.credentials = credentials
        self.overrides = overrides
        self.channelLimit = channelLimit
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.version = version
        self.preview = preview
    }

    /// The team and the key that sign the provider tokens of an environment.
    package func credentials(in environment: APNsEnvironment) -> Credentials {
        let override = overrides[environment]
        return Credentials(
            teamID: override?.teamID ?? credentials.teamID, keyID: override?.keyID ?? credentials.keyID)
    }

    /// The key of an environment.
    package func keyUse(in environment: APNsEnvironment) -> KeyUse {
        KeyUse(credentials: credentials(in: environment), environment: environment)
    }

    /// The app's address for calls to APNs.
    package func address(in environment: APNsEnvironment) -> APNsAddress {
        APNsAddress(bundleID: bundleID, environment: environment, credentials: credentials(in: environment))
    }

    /// The team and key of one environment; `nil` keeps the app's own.
    package struct Override: Sendable, Hashable {
        package var teamID: String?
        package var keyID: String?

        package init(teamID: String? = nil, keyID: String? = nil) {
            self.teamID = teamID
            self.keyID = keyID
        }
    }
}

/// The signer: Apple's ten-character team ID and the ID of one of the team's keys.
package struct Credentials: Sendable, Hashable {
    package var teamID: String
    package var keyID: String

    package init(teamID: String, keyID: String) {
        self.teamID = teamID
        self.keyID = keyID
    }
}

/// Whether the key file of an app's environment can sign, and whether APNs accepts its tokens.
package enum KeyFileState: Sendable, Hashable {
    case ok
    case missing
    case unreadable
    /// The file can sign, but APNs refuses its provider tokens.
    case refused(KeyRefusal)

    /// The value in the API.
    package var word: String {
        switch self {
        case .ok: "ok"
        case .missing: "missing"
        case .unreadable: "unreadable"
        case .refused: "refused"
        }
    }
}
