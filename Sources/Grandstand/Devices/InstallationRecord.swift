package import FoundationEssentials

/// Which installation, its app in its environment by number.
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
    /// Since when it is this one; later when APNs had refused it and it was registered again.
    package var registeredAt: Date
    /// Since when it is not used, for APNs refused it.
    package var suspectSince: Date?

    package init(token: DeviceToken, registeredAt: Date, suspectSince: Date? = nil) {
        self.token = token
        self.registeredAt = registeredAt
        self.suspectSince = suspectSince
    }
}

/// An installation as the database has it.
///
/// `Secret` is the stored form of its secret; two of them are compared in constant time.
package struct InstallationRecord<Secret: Equatable & Sendable>: Sendable {
    /// The number of its row; `nil`: it has none yet.
    package var row: Int?
    package var secret: Secret
    /// Its state as its app reported it, without the start tokens.
    package var details: InstallationState
    /// By type of attributes.
    package var tokens: [String: RegisteredToken]
    /// To the day.
    package var seenAt: Date
    /// See `TokenPace`; `nil`: it brought no token yet.
    package var tokensPacedUntil: Date?

    /// - Parameter state: its start tokens do not count.
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

    /// How many of these tokens are another one than is known, or one that was refused.
    func newTokens(_ wanted: [String: DeviceToken]) -> Int {
        wanted.count { type, token in tokens[type]?.token != token || tokens[type]?.suspectSince != nil }
    }

    /// The tokens when these are registered: one that is known and not refused stays as it is.
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
