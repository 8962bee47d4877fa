package import FoundationEssentials

/// Identifies an installation by its UUID and by the ID of its row in `app_environments`.
package struct InstallationKey: Sendable, Hashable {
    package var app: Int
    package var id: UUID

    package init(app: Int, id: UUID) {
        self.app = app
        self.id = id
    }
}

/// A start token as it was registered.
package struct RegisteredToken: Sendable, Hashable {
    package var token: DeviceToken
    /// When it was registered. A token that APNs refused gets a new time when it is registered again.
    package var registeredAt: Date
    /// When APNs refused it; it is not used since then.
    package var suspectSince: Date?

    package init(token: DeviceToken, registeredAt: Date, suspectSince: Date? = nil) {
        self.token = token
        self.registeredAt = registeredAt
        self.suspectSince = suspectSince
    }
}

/// An installation as the database has it.
///
/// `Secret` is the stored form of the installation's secret. Two such values are compared in constant time.
package struct InstallationRecord<Secret: Equatable & Sendable>: Sendable {
    /// The number of its row; `nil`: it has none yet.
    package var row: Int?
    package var secret: Secret
    /// Its state as its app reported it, without the start tokens.
    package var details: InstallationState
    /// The start tokens by type of attributes.
    package var tokens: [String: RegisteredToken]
    /// When it was last seen, to the day.
    package var seenAt: Date
    /// The time that each new token moves further into the future, to limit how fast the installation registers tokens
    /// (`TokenPace`); `nil`: the installation has registered no token yet.
    package var tokensPacedUntil: Date?

    /// - Parameter state: its start tokens are ignored; `tokens` has them.
    package init(
        row: Int?, secret: Secret, state: InstallationState, tokens: [String: RegisteredToken], seenAt: Date,
        tokensPacedUntil: Date? = nil
    ) {
        self.row = row
        self.secret = secret
        details = state
        details.startTokens = [:]
        self.tokens = tokens
        self.seenAt = seenAt
        self.tokensPacedUntil = tokensPacedUntil
    }

    package var state: InstallationState {
        var state = details
        state.startTokens = tokens.mapValues(\.token)
        return state
    }

    /// The number of these tokens that differ from the registered ones, or that APNs refused.
    func newTokens(_ wanted: [String: DeviceToken]) -> Int {
        wanted.count { type, token in tokens[type]?.token != token || tokens[type]?.suspectSince != nil }
    }

    /// The installation's tokens after it registered `wanted`. A known token that APNs did not refuse keeps its times.
    func tokens(registering wanted: [String: DeviceToken], at now: Date) -> [String: RegisteredToken] {
        var registered: [String: RegisteredToken] = [:]
        for (type, token) in wanted {
            if let known = tokens[type], known.token == token, known.suspectSince == nil {
                registered[type] = known
            } else {
                registered[type] = RegisteredToken(token: token, registeredAt: now)
            }
        }
        return registered
    }
}
