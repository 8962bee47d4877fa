internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Synchronization

/// The keys whose tokens APNs refused in its answers to this process. Refusals that other replicas received do not delay
/// this process's requests.
final class TokenStandings: Sendable {
    private struct Entry {
        var standing = TokenStanding()
        /// When a request last used the key.
        var usedAt = Date.distantPast
        /// Whether APNs accepted or refused the key, or the key changed, since the last `news`.
        var isNews = false
    }

    private let keys: KeyRing
    private let now: @Sendable () -> Date
    private let logger: Logger
    private let state = Mutex([KeyUse: Entry]())

    /// Readiness reports a refused key until this many seconds after the key's last use.
    private static let lately: TimeInterval = 3_600

    init(keys: KeyRing, now: @escaping @Sendable () -> Date, logger: Logger) {
        self.keys = keys
        self.now = now
        self.logger = logger
    }

    /// Decides whether a request with `token` may be sent now.
    func turn(of use: KeyUse, with token: ProviderToken) -> TokenStanding.Turn {
        let now = now()
        let (turn, ended) = change(use) { entry in
            let ended = entry.standing.use(token.fingerprint)
            entry.usedAt = now
            return (entry.standing.turn(now: now), ended)
        }
        if ended != nil { tellOfNewKey(use) }
        return turn
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
            logger.error(
                "APNs refuses the provider tokens of a key; its requests wait, and one is sent every few seconds until APNs accepts the key or the key file is replaced",
                metadata: Self.metadata(use, reason))
        }
        return Int(TokenStanding.pause)
    }

    /// Records that APNs accepted `token`.
    func accepted(_ token: ProviderToken, of use: KeyUse) {
        let ended = change(use) { entry in
            entry.isNews = true
            return entry.standing.accepted(key: token.fingerprint)
        }
        if let ended {
            logger.notice(
                "APNs accepts the provider tokens of the key again; waiting requests are sent",
                metadata: Self.metadata(use, ended.reason))
        }
    }

    /// Checks the files of refused keys. If a file was replaced, its key no longer counts as refused.
    func checkKeys() {
        let refused = state.withLock { $0.filter { $0.value.standing.refusal != nil }.map(\.key) }
        for use in refused {
            guard case .success(let key) = keys.key(use.credentials.keyID) else { continue }
            let ended = change(use) { $0.standing.use(key.fingerprint) }
            if ended != nil { tellOfNewKey(use) }
        }
    }

    /// The present refusals that this process received.
    func own() -> [KeyUse: KeyRefusal] {
        checkKeys()
        return state.withLock { $0.compactMapValues(\.standing.refusal) }
    }

    /// The present refusals of keys that were used within the last hour. Keys that no app uses now are left out.
    func ownOfLate() -> [KeyUse: KeyRefusal] {
        let time = now()
        let used = state.withLock { $0.filter { time.timeIntervalSince($0.value.usedAt) < Self.lately } }
        return own().filter { used[$0.key] != nil }
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

    private func tellOfNewKey(_ use: KeyUse) {
        logger.notice(
            "the file of a key that APNs refused was replaced; waiting requests are sent with the new key",
            metadata: Self.metadata(use, nil))
        change(use) { $0.isNews = true }
    }

    private func change<Result: Sendable>(_ use: KeyUse, _ body: (inout Entry) -> Result) -> Result {
        state.withLock { body(&$0[use, default: Entry()]) }
    }

    private static func metadata(_ use: KeyUse, _ reason: APNsReason?) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "team": "\(use.credentials.teamID)", "key": "\(use.credentials.keyID)",
            "environment": "\(use.environment.rawValue)",
        ]
        if let reason { metadata["reason"] = "\(reason)" }
        return metadata
    }
}
