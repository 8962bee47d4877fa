package import APNsWire
package import FoundationEssentials
package import GrandstandContract

/// Identifies one copy of an app on a phone by its app, its environment and a UUID that the app generated.
package struct InstallationID: Sendable, Hashable {
    package var bundleID: BundleID
    package let environment: APNsEnvironment
    package let id: UUID

    package init(bundleID: BundleID, environment: APNsEnvironment, id: UUID) {
        (self.bundleID, self.environment, self.id) = (bundleID, environment, id)
    }
}

/// One call of an app to register: the whole state of its installation.
package struct Registration: Sendable {
    package let id: InstallationID
    /// The hash of the secret.
    package let secretHash: [UInt8]
    /// The state as the tables return it (`normalized`).
    package private(set) var draft: Contract.InstallationDraft
    private let refusalIfNew: Problem?
    package let now: Date
    /// The installation's row as the tables have it; after `decide`, as the registration leaves it.
    package var row = Row()

    package struct Row: Sendable {
        /// The number of the app (`app_environments.id`).
        package var app: Int32 = 0
        package var id = 0
        /// The state before the registration; a token that APNs refused is empty. `nil`: the installation is new.
        package var state: Contract.InstallationDraft?
        package var secretHash: [UInt8]?
        /// When it was last seen, to the day.
        package var seenAt = Date.distantPast
        /// The time that each new token moves further into the future (`DeviceBounds.pace`); `nil`: the installation
        /// has registered no token yet.
        package var pacedUntil: Date?
        /// For a new installation: how many of its app were created in this hour. Others of the same transaction do not
        /// count yet.
        package var appNewCount = 0

        package init() {}
    }

    /// - Parameter refusal: thrown if the installation is new.
    package init(
        of id: InstallationID, secretHash: [UInt8], _ draft: Contract.InstallationDraft, unlessNew refusal: Problem?,
        now: Date
    ) {
        (self.id, self.secretHash, self.draft, self.refusalIfNew, self.now) = (
            id, secretHash, draft.normalized, refusal, now
        )
    }

    package var tokens: [Contract.StartTokenDraft] { draft.startTokens ?? [] }
    package var topics: [String] { draft.topics ?? [] }

    /// The tokens that differ from the registered ones, or that APNs refused.
    package var newTokens: [Contract.StartTokenDraft] { tokens.filter { row.state?.startTokens?.contains($0) != true } }
    package var removedTokens: [Contract.StartTokenDraft] {
        (row.state?.startTokens ?? []).filter { !tokens.contains($0) }
    }

    /// The installation and the tokens, which two registrations of one transaction must not share.
    package var conflictKeys: Set<String> {
        let app = "\(id.environment) \(id.bundleID.topic)"
        return Set(tokens.map { "\(app) \($0.token) \($0.attributesType)" } + ["\(app) \(id.id)"])
    }

    /// A repeated registration updates `seenAt` at most once in this many seconds.
    private static let day: TimeInterval = 86_400

    /// Decides what the registration changes. A state without a sequence leaves the known sequence as it is.
    ///
    /// - Parameter mostNew: the most new installations of one app in an hour; `nil`: any number.
    /// - Returns: whether anything changes.
    /// - Throws: `wrong-installation-secret`; `stale-installation` for a lower sequence than the known one;
    ///   `rate-limited` beyond a limit of `DeviceBounds`.
    package mutating func decide(mostNew: Int?) throws(Problem) -> Bool {
        if let known = row.state {
            guard row.secretHash == secretHash else { throw .wrongInstallationSecret }
            if let sequence = draft.sequence, let newest = known.sequence, sequence < newest {
                throw Problem(
                    .staleInstallation,
                    "The sequence \(sequence) is older than \(newest), which is known. Nothing was changed; send the "
                        + "whole state with a higher one."
                ) { $0.sequence = newest }
            }
            draft.sequence = draft.sequence ?? known.sequence
        }
        let isSeen = now.timeIntervalSince(row.seenAt) < Self.day
        guard !isSeen || draft != row.state else { return false }
        if !isSeen { row.seenAt = now }
        row.pacedUntil = try DeviceBounds.pace(newTokens.count, row.pacedUntil, at: now)
        if row.state == nil {
            if let refusalIfNew { throw refusalIfNew }
            try DeviceBounds.requireRoom(created: row.appNewCount, mostNew: mostNew, at: now)
        }
        return true
    }
}

extension Contract.InstallationDraft {
    /// The state as the tables return it: the first two numbers of the version, tokens in lower case and in the order of
    /// their types, each topic once.
    var normalized: Contract.InstallationDraft {
        var state = self
        let system = SystemVersion.number(systemVersion)
        state.systemVersion = "\(system / 1_000).\(system % 1_000)"
        state.liveActivitiesEnabled = liveActivitiesEnabled ?? true
        state.frequentPushesEnabled = frequentPushesEnabled ?? true
        state.startTokens = (startTokens ?? []).sorted { $0.attributesType < $1.attributesType }.map {
            Contract.StartTokenDraft(attributesType: $0.attributesType, token: $0.token.lowercased())
        }
        state.topics = Set(topics ?? []).sorted()
        return state
    }
}
