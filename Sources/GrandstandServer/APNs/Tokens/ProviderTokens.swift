internal import CoreMetrics
internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Synchronization

/// The provider token of each team and key. It depends only on the key and the clock (`timeOfIssue`), so all replicas
/// send the same token, also after a restart.
final class ProviderTokens: Sendable {
    private let keys: KeyRing
    private let now: @Sendable () -> Date
    private let metrics: ServerMetrics
    private let logger: Logger
    private let tokens = Mutex<[Credentials: ProviderToken]>([:])

    init(keys: KeyRing, metrics: ServerMetrics, logger: Logger, now: @escaping @Sendable () -> Date) {
        self.keys = keys
        self.metrics = metrics
        self.logger = logger
        self.now = now
    }

    /// The token for the next request. Each call costs one `stat` of the key file.
    ///
    /// - Throws: `SigningKey.Fault` if the key file is missing or cannot be used.
    func token(for credentials: Credentials) throws -> ProviderToken {
        let issuedAt = Self.timeOfIssue(seconds)
        return try tokens.withLock { tokens in
            let key = try keys.key(credentials.keyID).get()
            if let present = tokens[credentials], present.issuedAt == issuedAt, present.fingerprint == key.fingerprint {
                return present
            }
            let token = try ProviderToken(credentials: credentials, key: key, issuedAt: issuedAt)
            tokens[credentials] = token
            metrics.renewals.increment()
            logger.debug(
                "provider token renewed",
                metadata: ["team": "\(credentials.teamID)", "key": "\(credentials.keyID)", "iat": "\(issuedAt)"])
            return token
        }
    }

    /// Updates the gauges of the ages of tokens in use.
    func recordGauges() {
        let time = seconds
        for (credentials, token) in tokens.withLock({ $0 }) {
            metrics.tokenAge(time - token.issuedAt, of: credentials)
        }
    }

    /// All tokens of a slot have the slot's beginning as their time of issue (docs/internals/apns.md C15). APNs wants a
    /// new token after 20 minutes at the earliest and 60 minutes at the latest.
    private static let slot = 2_400
    /// A slot's token is used from this time after the slot's beginning on. So APNs does not see a time of issue in the
    /// future, even if this machine's clock is ahead.
    private static let margin = 60

    /// All values are seconds on this machine's clock.
    static func timeOfIssue(_ now: Int) -> Int { (now - margin) / slot * slot }

    private var seconds: Int { Int(now().timeIntervalSince1970) }
}
