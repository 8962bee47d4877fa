internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Synchronization

/// The provider token of each team and key. It depends only on the key and the clock (`TokenSchedule`), so all replicas
/// send the same token, also after a restart.
final class ProviderTokens: Sendable {
    private struct Entry {
        var token: ProviderToken
        /// When the key file was last checked.
        var checkedAt: Int
    }

    private let keys: KeyRing
    private let now: @Sendable () -> Date
    private let metrics: CallMetrics
    private let logger: Logger
    private let entries = Mutex<[Credentials: Entry]>([:])

    /// Seconds between two checks of a key file. Each costs one `stat`.
    private static let fileCheckInterval = 2

    init(keys: KeyRing, metrics: CallMetrics, logger: Logger, now: @escaping @Sendable () -> Date) {
        self.keys = keys
        self.metrics = metrics
        self.logger = logger
        self.now = now
    }

    /// The token for the next request.
    ///
    /// - Throws: `SigningKey.Fault` if the key file is missing or cannot be used.
    func token(for credentials: Credentials) throws -> ProviderToken {
        let time = seconds
        let issuedAt = TokenSchedule.timeOfIssue(time)
        return try entries.withLock { entries in
            let present = entries[credentials]
            let isChecked = present.map { abs(time - $0.checkedAt) < Self.fileCheckInterval } ?? false
            if let present, isChecked, present.token.issuedAt == issuedAt { return present.token }
            let key = try keys.key(credentials.keyID).get()
            if let present, present.token.issuedAt == issuedAt, present.token.fingerprint == key.fingerprint {
                entries[credentials]?.checkedAt = time
                return present.token
            }
            let token = try ProviderToken(credentials: credentials, key: key, issuedAt: issuedAt)
            entries[credentials] = Entry(token: token, checkedAt: time)
            metrics.renewed()
            logger.debug(
                "provider token renewed",
                metadata: ["team": "\(credentials.teamID)", "key": "\(credentials.keyID)", "iat": "\(issuedAt)"])
            return token
        }
    }

    /// Makes the next call check every key file.
    func checkFiles() {
        keys.forget()
        entries.withLock { entries in
            for credentials in entries.keys { entries[credentials]?.checkedAt = 0 }
        }
    }

    /// Updates the gauges of the ages of tokens in use.
    func recordGauges() {
        let time = seconds
        for (credentials, entry) in entries.withLock({ $0 }) {
            metrics.tokenAge(time - entry.token.issuedAt, of: credentials)
        }
    }

    private var seconds: Int { Int(now().timeIntervalSince1970) }
}
