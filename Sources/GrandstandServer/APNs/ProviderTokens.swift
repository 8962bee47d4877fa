internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Synchronization

/// The provider token of each team and key. It depends only on the key and the clock (`timeOfIssue`), so all replicas
/// send the same token, also after a restart. And the keys whose tokens APNs refused in its answers to this process;
/// refusals that other replicas received do not delay this process's requests.
final class ProviderTokens: Sendable {
    private let keys: KeyRing
    private let now: @Sendable () -> Date
    private let metrics: ServerMetrics
    private let logger: Logger
    private let state = Mutex([KeyUse: Entry]())

    private struct Entry {
        var token: ProviderToken?
        var standing = TokenStanding()
        /// When a request last used the key.
        var usedAt = Date.distantPast
        /// Whether APNs accepted or refused the key, or the key changed, since the last `news`.
        var isNews = false
    }

    init(keys: KeyRing, metrics: ServerMetrics, logger: Logger, now: @escaping @Sendable () -> Date) {
        self.keys = keys
        self.metrics = metrics
        self.logger = logger
        self.now = now
    }

    /// The token for the next request. Each call costs one `stat` of the key file.
    ///
    /// - Throws: `SigningKey.Fault` if the key file is missing or cannot be used.
    func token(for use: KeyUse) throws -> ProviderToken {
        let (issuedAt, credentials) = (Self.timeOfIssue(seconds), use.credentials)
        let key = try keys.key(credentials.keyID).get()
        noteKey(key.fingerprint, of: use)
        return try change(use) { entry in
            if let present = entry.token, present.issuedAt == issuedAt, present.fingerprint == key.fingerprint {
                return present
            }
            let token = try ProviderToken(credentials: credentials, key: key, issuedAt: issuedAt)
            entry.token = token
            metrics.renewals.increment(by: 1)
            logger.debug(
                "provider token renewed",
                metadata: ["team": "\(credentials.teamID)", "key": "\(credentials.keyID)", "iat": "\(issuedAt)"])
            return token
        }
    }

    /// Updates the gauges of the ages of tokens in use.
    func recordGauges() {
        let time = seconds
        for (use, entry) in state.withLock(\.self) {
            guard let token = entry.token else { continue }
            metrics.series("grandstand_apns_token_age_seconds", [use.credentials.teamID, use.credentials.keyID])
                .record(Double(time - token.issuedAt))
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

    // MARK: Refused keys

    /// Decides whether a request with the token may be sent now.
    func turn(of use: KeyUse) -> TokenStanding.Turn {
        let now = now()
        return change(use) { entry in
            entry.usedAt = now
            return entry.standing.turn(now: now)
        }
    }

    /// Records that APNs refused `token`.
    ///
    /// - Returns: seconds until the next probe; `nil` for a first refusal, which may be a mistake.
    func refused(_ reason: APNsReason, _ token: ProviderToken, of use: KeyUse) -> Int? {
        let now = now()
        let (begins, stands) = change(use) { entry in
            let begins = entry.standing.refused(reason, key: token.fingerprint, now: now)
            let stands = entry.standing.refusal != nil
            // A repeated refusal is news, too, because another replica may have removed it: APNs may have accepted that
            // replica's token.
            if stands { entry.isNews = true }
            return (begins, stands)
        }
        guard stands else { return nil }
        if begins {
            log(
                .error,
                "APNs refuses the provider tokens of a key; its requests wait, and one is sent every few seconds until APNs accepts the key or the key file is replaced",
                use, reason)
        }
        return Int(TokenStanding.pause)
    }

    /// Records that APNs accepted `token`.
    func accepted(_ token: ProviderToken, of use: KeyUse) {
        let ended = change(use) { entry in
            entry.isNews = true
            return entry.standing.accepted(key: token.fingerprint)
        }
        guard let ended else { return }
        log(.notice, "APNs accepts the provider tokens of the key again; waiting requests are sent", use, ended.reason)
    }

    /// Checks the files of refused keys. If a file was replaced, its key no longer counts as refused.
    private func checkKeys() {
        for use in state.withLock({ $0.filter { $0.value.standing.refusal != nil }.map(\.key) }) {
            if case .success(let key) = keys.key(use.credentials.keyID) { noteKey(key.fingerprint, of: use) }
        }
    }

    /// The present refusals that this process received.
    ///
    /// - Parameter limit: leaves out the keys that no request has used for this many seconds, such as those that no app
    ///   uses now.
    func own(usedWithin limit: TimeInterval) -> [KeyUse: KeyRefusal] {
        checkKeys()
        let now = now()
        return state.withLock { state in
            state.filter { now.timeIntervalSince($0.value.usedAt) < limit }.compactMapValues(\.standing.refusal)
        }
    }

    /// The keys of which APNs said something since the last call, or whose file was replaced, each with the refusal that
    /// stands now. A server stores them for all replicas.
    func news() -> [(use: KeyUse, refusal: KeyRefusal?)] {
        checkKeys()
        return state.withLock { state in
            let news = state.filter(\.value.isNews)
            for use in news.keys { state[use]?.isNews = false }
            return news.map { ($0.key, $0.value.standing.refusal) }
        }
    }

    /// Records the fingerprint of the key that signs tokens now. A refusal of another key ends.
    private func noteKey(_ fingerprint: [UInt8], of use: KeyUse) {
        let isOver = change(use) { entry in
            let isOver = entry.standing.use(fingerprint) != nil
            if isOver { entry.isNews = true }
            return isOver
        }
        guard isOver else { return }
        log(
            .notice, "the file of a key that APNs refused was replaced; waiting requests are sent with the new key",
            use)
    }

    private func change<Result: Sendable, Failure>(
        _ use: KeyUse, _ body: (inout Entry) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try state.withLock { entries throws(Failure) in try body(&entries[use, default: Entry()]) }
    }

    private func log(_ level: Logger.Level, _ text: Logger.Message, _ use: KeyUse, _ reason: APNsReason? = nil) {
        var logger = logger
        logger[metadataKey: "reason"] = reason.map { "\($0)" }
        logger.log(
            level: level, text,
            metadata: [
                "team": "\(use.credentials.teamID)", "key": "\(use.credentials.keyID)",
                "environment": "\(use.environment.rawValue)",
            ])
    }
}

/// A provider token: the JWT with team and key (Apple, "Establishing a token-based connection to APNs").
struct ProviderToken: Sendable, Hashable {
    /// Seconds since 1970.
    let issuedAt: Int
    let text: String
    /// The fingerprint of the key that signed this token.
    let fingerprint: [UInt8]

    /// The same arguments always give the same text.
    init(credentials: Credentials, key: SigningKey, issuedAt: Int) throws {
        self.issuedAt = issuedAt
        fingerprint = key.fingerprint
        let header = Base64URL.text(#"{"alg":"ES256","kid":"\#(credentials.keyID)"}"#.utf8)
        let claims = Base64URL.text(#"{"iss":"\#(credentials.teamID)","iat":\#(issuedAt)}"#.utf8)
        let signed = "\(header).\(claims)"
        text = "\(signed).\(Base64URL.text(try key.signature(of: Array(signed.utf8))))"
    }
}

extension ProviderToken: CustomStringConvertible, CustomDebugStringConvertible {
    /// The description does not contain the text of the token, because the text is a secret.
    var description: String { "provider token issued at \(issuedAt)" }
    var debugDescription: String { description }
}
