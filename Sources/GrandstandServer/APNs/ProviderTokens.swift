internal import APNsWire
internal import Cryptography
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
    private let state = Mutex([UsedKey: Entry]())

    private struct Entry {
        var token: ProviderToken?
        var standing = KeyStanding()
        /// Whether APNs accepted or refused the key, or the key changed, since the last `takeNews`.
        var isNews = false
    }

    init(keys: KeyRing, metrics: ServerMetrics, logger: Logger, now: @escaping @Sendable () -> Date) {
        self.keys = keys
        self.metrics = metrics
        self.logger = logger
        self.now = now
    }

    /// The token for the next request. Each call costs one `stat` of the key file. A refusal ends when the file holds
    /// another key.
    ///
    /// - Throws: `SigningKey.Fault` if the key file is missing or cannot be used.
    func token(for use: UsedKey) throws -> ProviderToken {
        let issuedAt = Self.timeOfIssue(nowSeconds)
        let key = try keys.key(use.credentials.keyID).get()
        return try change(use) { entry in
            let isSameKey = entry.token?.keyFingerprint == key.fingerprint
            if let present = entry.token, isSameKey, present.issuedAt == issuedAt { return present }
            if !isSameKey { (entry.standing, entry.isNews) = (KeyStanding(), entry.token != nil) }
            let token = try ProviderToken(credentials: use.credentials, key: key, issuedAt: issuedAt)
            entry.token = token
            metrics.tokenRenewals.increment(by: 1)
            return token
        }
    }

    /// Updates the gauges of the ages of tokens.
    func recordGauges() {
        let time = nowSeconds
        for (use, entry) in state.withLock(\.self) {
            guard let token = entry.token else { continue }
            metrics.series("grandstand_apns_token_age_seconds", [use.credentials.teamID, use.credentials.keyID])
                .record(Double(time - token.issuedAt))
        }
    }

    /// All tokens of a slot have the slot's beginning as their time of issue (docs/internals/apns.md C15). APNs wants a
    /// new token after 20 minutes at the earliest and 60 minutes at the latest.
    private static let slotLength = 2_400
    /// A slot's token is used from this time after the slot's beginning on. So APNs does not see a time of issue in the
    /// future, even if this machine's clock is ahead.
    private static let clockMargin = 60

    /// All values are seconds on this machine's clock.
    static func timeOfIssue(_ now: Int) -> Int { (now - clockMargin) / slotLength * slotLength }

    private var nowSeconds: Int { Int(now().timeIntervalSince1970) }

    // MARK: Refused keys

    /// Decides whether a request with the token may be sent now.
    func permission(for use: UsedKey) -> KeyStanding.Permission {
        let now = now()
        return change(use) { $0.standing.admit(now: now) }
    }

    /// Records that APNs refused the token.
    ///
    /// - Returns: seconds until the next probe; `nil` for a first refusal, which may be a mistake.
    func noteRefusal(_ reason: APNsReason, of use: UsedKey) -> Int? {
        let now = now()
        let (begins, stands) = change(use) { entry in
            let begins = entry.standing.noteRefusal(reason, now: now)
            // A repeated refusal is news, too, because another replica may have removed it: APNs may have accepted that
            // replica's token.
            entry.isNews = entry.isNews || entry.standing.refusal != nil
            return (begins, entry.standing.refusal != nil)
        }
        if begins {
            logger.error(
                "APNs refuses the provider tokens of a key; its requests wait, but for one every three seconds",
                metadata: ["key": "\(use.credentials.keyID)", "reason": "\(reason)"])
        }
        return stands ? Int(KeyStanding.probeGap) : nil
    }

    /// Records that APNs accepted the token.
    func noteAccepted(_ use: UsedKey) {
        let ended = change(use) { entry in
            defer { (entry.standing, entry.isNews) = (KeyStanding(), true) }
            return entry.standing.refusal
        }
        guard ended != nil else { return }
        logger.notice(
            "APNs accepts the provider tokens of a key again", metadata: ["key": "\(use.credentials.keyID)"])
    }

    /// A refusal that stands in an environment, as a sentence. A key without requests in this slot, such as one that no
    /// app uses now, is left out: its token is old.
    func refusal(in environment: APNsEnvironment) -> String? {
        let issuedAt = Self.timeOfIssue(nowSeconds)
        return state.withLock(\.self).compactMap { use, entry in
            guard use.environment == environment, entry.token?.issuedAt == issuedAt else { return nil }
            return entry.standing.refusal?.sentence(of: use.credentials)
        }.min()
    }

    /// The keys of which APNs said something since the last call, or whose file was replaced, each with the refusal that
    /// stands now. A server stores them for all replicas.
    func takeNews() -> [(use: UsedKey, refusal: KeyRefusal?)] {
        state.withLock { state in
            let news = state.filter(\.value.isNews)
            for use in news.keys { state[use]?.isNews = false }
            return news.map { ($0.key, $0.value.standing.refusal) }
        }
    }

    private func change<Result: Sendable, Failure>(
        _ use: UsedKey, _ body: (inout Entry) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try state.withLock { entries throws(Failure) in try body(&entries[use, default: Entry()]) }
    }
}

/// A provider token: the JWT with team and key (Apple, "Establishing a token-based connection to APNs").
struct ProviderToken: Sendable, Hashable {
    /// Seconds since 1970.
    let issuedAt: Int
    let text: String
    /// The fingerprint of the key that signed this token.
    let keyFingerprint: [UInt8]

    /// The same arguments always give the same text.
    init(credentials: Credentials, key: SigningKey, issuedAt: Int) throws {
        self.issuedAt = issuedAt
        keyFingerprint = key.fingerprint
        let header = Base64URL.text(#"{"alg":"ES256","kid":"\#(credentials.keyID)"}"#.utf8)
        let claims = Base64URL.text(#"{"iss":"\#(credentials.teamID)","iat":\#(issuedAt)}"#.utf8)
        let signed = "\(header).\(claims)"
        text = "\(signed).\(Base64URL.text(try key.key.signature(of: Array(signed.utf8))))"
    }
}

extension ProviderToken: CustomStringConvertible {
    /// The description does not contain the text of the token, because the text is a secret.
    var description: String { "provider token issued at \(issuedAt)" }
}
