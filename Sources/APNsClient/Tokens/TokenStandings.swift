internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Synchronization

/// Which keys APNs refuses, by its answers to this process; what other replicas found is told, and does not hold requests
/// back here.
final class TokenStandings: Sendable {
    private struct Entry {
        var standing = TokenStanding()
        /// When a request wanted to use the key.
        var usedAt = Date.distantPast
        /// The token whose acceptance was noted; another one is noted again, so that what a replica left behind ends.
        var acceptedToken: Int?
        var wantsNote = false
        var isNoting = false
    }

    private let keys: KeyRing
    private let store: (any KeyRefusalStore)?
    private let now: @Sendable () -> Date
    private let logger: Logger
    private let state = Mutex([KeyUse: Entry]())
    /// What the store said last.
    private let shared = Mutex((refusals: [KeyUse: KeyRefusal](), readAt: Date.distantPast))

    /// Seconds for which what the store said is believed.
    private static let belief: TimeInterval = 1
    /// Seconds after its last use in which readiness still names a refused key.
    private static let lately: TimeInterval = 3_600

    /// - Parameter store: `nil`: this process tells and hears of nobody.
    init(keys: KeyRing, store: (any KeyRefusalStore)?, now: @escaping @Sendable () -> Date, logger: Logger) {
        self.keys = keys
        self.store = store
        self.now = now
        self.logger = logger
    }

    /// The turn of a request that will carry `token`.
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

    /// APNs refused `token`.
    ///
    /// - Returns: the seconds after which it is asked again; `nil` for a first refusal, which may be a mistake.
    func refused(_ reason: APNsReason, _ token: ProviderToken, of use: KeyUse) -> Int? {
        let now = now()
        let (begins, stands) = change(use) { entry in
            let begins = entry.standing.refused(reason, key: token.fingerprint, now: now)
            return (begins, entry.standing.refusal != nil)
        }
        guard stands else { return nil }
        if begins {
            logger.error(
                "APNs refuses the provider tokens of a key; its requests wait, and one goes every few seconds until APNs accepts it or the key file is replaced",
                metadata: Self.metadata(use, reason))
        }
        // With every probe: a replica whose key is accepted may have ended it.
        note(use)
        return Int(TokenStanding.pause)
    }

    /// APNs accepted `token`.
    func accepted(_ token: ProviderToken, of use: KeyUse) {
        let (ended, isFirst) = change(use) { entry in
            let ended = entry.standing.accepted(key: token.fingerprint)
            let isFirst = entry.acceptedToken != token.issuedAt
            entry.acceptedToken = token.issuedAt
            return (ended, isFirst)
        }
        if let ended {
            logger.notice(
                "APNs accepts the provider tokens of the key again; what waited goes",
                metadata: Self.metadata(use, ended.reason))
        }
        if ended != nil || isFirst { note(use) }
    }

    /// Looks at the files of refused keys, so that one that was replaced is not said to be refused.
    func checkKeys() {
        let refused = state.withLock { $0.filter { $0.value.standing.refusal != nil }.map(\.key) }
        for use in refused {
            guard case .success(let key) = keys.key(use.credentials.keyID) else { continue }
            let ended = change(use) { $0.standing.use(key.fingerprint) }
            if ended != nil { tellOfNewKey(use) }
        }
    }

    /// The refusals that this process met and that stand.
    func own() -> [KeyUse: KeyRefusal] {
        checkKeys()
        return state.withLock { $0.compactMapValues(\.standing.refusal) }
    }

    /// The standing refusals of keys that were used recently. A key that no app uses now is left out.
    func ownOfLate() -> [KeyUse: KeyRefusal] {
        let time = now()
        let used = state.withLock { $0.filter { time.timeIntervalSince($0.value.usedAt) < Self.lately } }
        return own().filter { used[$0.key] != nil }
    }

    /// The refusals that this process met, and what other replicas met.
    func all() async -> [KeyUse: KeyRefusal] {
        // What was not written down yet the store does not know.
        let own = own()
        let unwritten = state.withLock { $0.filter { $0.value.isNoting }.keys }
        let time = now()
        let last = shared.withLock { $0 }
        var known = last.refusals
        if let store, abs(time.timeIntervalSince(last.readAt)) >= Self.belief {
            // Without the database, what it said last.
            if let read = try? await store.refusals() {
                known = read
                shared.withLock { $0 = (read, time) }
            }
        }
        return known.filter { !unwritten.contains($0.key) }.merging(own) { $1 }
    }

    private func tellOfNewKey(_ use: KeyUse) {
        logger.notice(
            "the file of a key that APNs refused was replaced; what waited goes with the new one",
            metadata: Self.metadata(use, nil))
        note(use)
    }

    /// Writes down how things stand, one writer for each key at a time.
    private func note(_ use: KeyUse) {
        guard let store else { return }
        let begins = change(use) { entry in
            entry.wantsNote = true
            defer { entry.isNoting = true }
            return !entry.isNoting
        }
        guard begins else { return }
        Task {
            while let refusal = self.next(use) {
                do {
                    try await store.note(refusal, of: use)
                } catch {
                    // The next answer is noted again.
                    self.change(use) { $0.acceptedToken = nil }
                    self.logger.debug(
                        "whether APNs accepts a key could not be noted", metadata: ["error": "\(error)"])
                }
                self.shared.withLock { $0.readAt = .distantPast }
            }
        }
    }

    /// What is to be written down next; `nil`: nothing is.
    private func next(_ use: KeyUse) -> KeyRefusal?? {
        change(use) { entry in
            entry.isNoting = entry.wantsNote
            guard entry.wantsNote else { return nil }
            entry.wantsNote = false
            return .some(entry.standing.refusal)
        }
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
