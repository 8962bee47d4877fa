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
        /// When an acceptance was last noted. It is noted once a minute, which removes old refusals that other replicas
        /// noted.
        var notedAt: Date?
    }

    private let keys: KeyRing
    /// The keys whose state is to be written. One task writes, so that no state overtakes a newer one.
    private let toNote: AsyncStream<KeyUse>.Continuation
    private let now: @Sendable () -> Date
    private let logger: Logger
    private let state = Mutex([KeyUse: Entry]())

    /// Readiness reports a refused key until this many seconds after the key's last use.
    private static let lately: TimeInterval = 3_600
    /// Seconds between two notes of acceptances.
    private static let notes: TimeInterval = 60

    init(
        keys: KeyRing, noteRefusal: APNsClient.RefusalNote?, now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.keys = keys
        self.now = now
        self.logger = logger
        let (uses, toNote) = AsyncStream.makeStream(of: KeyUse.self, bufferingPolicy: .bufferingNewest(1_000))
        self.toNote = toNote
        guard let noteRefusal else { return }
        Task { [weak self] in
            for await use in uses { await self?.write(use, noteRefusal) }
        }
    }

    deinit { toNote.finish() }

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
            return (begins, entry.standing.refusal != nil)
        }
        guard stands else { return nil }
        if begins {
            logger.error(
                "APNs refuses the provider tokens of a key; its requests wait, and one is sent every few seconds until APNs accepts the key or the key file is replaced",
                metadata: Self.metadata(use, reason))
        }
        // Note the refusal again after every refused probe, because another replica may have removed it: APNs may have
        // accepted that replica's token.
        toNote.yield(use)
        return Int(TokenStanding.pause)
    }

    /// Records that APNs accepted `token`.
    func accepted(_ token: ProviderToken, of use: KeyUse) {
        let now = now()
        let (ended, isDue) = change(use) { entry in
            let ended = entry.standing.accepted(key: token.fingerprint)
            let isDue = entry.notedAt.map { abs(now.timeIntervalSince($0)) >= Self.notes } ?? true
            if isDue { entry.notedAt = now }
            return (ended, isDue)
        }
        if let ended {
            logger.notice(
                "APNs accepts the provider tokens of the key again; waiting requests are sent",
                metadata: Self.metadata(use, ended.reason))
        }
        if ended != nil || isDue { toNote.yield(use) }
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

    private func tellOfNewKey(_ use: KeyUse) {
        logger.notice(
            "the file of a key that APNs refused was replaced; waiting requests are sent with the new key",
            metadata: Self.metadata(use, nil))
        toNote.yield(use)
    }

    private func write(_ use: KeyUse, _ noteRefusal: APNsClient.RefusalNote) async {
        do {
            try await noteRefusal(change(use) { $0.standing.refusal }, use)
        } catch {
            // After a failed write, the next answer from APNs that accepts or refuses the key's token starts another
            // write.
            change(use) { $0.notedAt = nil }
            logger.debug(
                "the record whether APNs accepts a key could not be stored", metadata: ["error": "\(error)"])
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
