internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Synchronization

/// The provider token of each team and key. With a store, all replicas use the same token. A token is renewed when it
/// reaches a fixed age (`TokenSchedule`).
final class ProviderTokens: Sendable {
    private struct Entry {
        var token: ProviderToken
        /// The token that `token` replaced. It is used again if APNs answers that the token changed too soon.
        var previous: ProviderToken?
        /// The token is not renewed before this time, even if the schedule requires a renewal.
        var heldUntil = 0
        /// When to check the key file next.
        var fileCheckAt: Int
    }

    private struct State {
        var entries: [Credentials: Entry] = [:]
        /// The renewals in progress, one for each key. Callers that need the new token wait for the renewal.
        var renewals: [Credentials: Task<ProviderToken, any Error>] = [:]
    }

    private let keys: KeyRing
    private let store: (any ProviderTokenStore)?
    private let now: @Sendable () -> Date
    private let metrics: CallMetrics
    private let logger: Logger
    private let state = Mutex(State())

    /// Seconds between two checks of a key file. Each costs one `stat`.
    private static let fileCheckInterval = 2
    /// Seconds until the store is asked again after it gave no answer.
    private static let retryInterval = 5

    /// - Parameter store: `nil`: each process uses its own tokens.
    init(
        keys: KeyRing, store: (any ProviderTokenStore)?, metrics: CallMetrics, logger: Logger,
        now: @escaping @Sendable () -> Date
    ) {
        self.keys = keys
        self.store = store
        self.metrics = metrics
        self.logger = logger
        self.now = now
    }

    /// The token for the next request.
    ///
    /// - Throws: `SigningKey.Fault` if the key file is missing or cannot be used.
    func token(for credentials: Credentials) async throws -> ProviderToken {
        let time = seconds
        let present = try current(credentials, time)
        if let present, !isDue(present, of: credentials, time) { return present }
        let renewal = renewal(of: credentials, issuedAt: TokenSchedule.timeOfIssue(time))
        // As long as APNs accepts the old token, no caller waits for the database.
        if let present { return present }
        return try await renewal.value
    }

    /// Waits for the renewal in progress, if there is one.
    func settled(_ credentials: Credentials) async {
        _ = await state.withLock { $0.renewals[credentials] }?.result
    }

    /// Gets another token after APNs called `token` expired. A new token is made only if `token` is old enough that
    /// APNs accepts a change.
    ///
    /// - Returns: whether there is another token to try. `false` means that a clock is wrong.
    func replaceExpired(_ token: ProviderToken, of credentials: Credentials) async throws -> Bool {
        let time = seconds
        let present = state.withLock { $0.entries[credentials]?.token }
        if let present, present.issuedAt > token.issuedAt { return true }
        guard time - token.issuedAt >= TokenSchedule.minimumAge else { return false }
        return try await renewal(of: credentials, issuedAt: time, replacing: token.issuedAt).value != token
    }

    /// Goes back to the previous token after APNs answered that the token changed too soon, if the previous token is
    /// still valid. No new token is made for 20 minutes.
    ///
    /// - Returns: whether there is another token to try.
    func keepOld(insteadOf token: ProviderToken, of credentials: Credentials) -> Bool {
        let time = seconds
        return state.withLock { state in
            guard var entry = state.entries[credentials] else { return false }
            defer { state.entries[credentials] = entry }
            entry.heldUntil = time + TokenSchedule.minimumAge
            if entry.token != token { return true }
            guard let previous = entry.previous, previous.fingerprint == token.fingerprint,
                TokenSchedule.isUsable(issuedAt: previous.issuedAt, now: time)
            else { return false }
            (entry.token, entry.previous) = (previous, token)
            return true
        }
    }

    /// Makes the next call check every key file.
    func checkFiles() {
        keys.forget()
        state.withLock { state in
            for credentials in state.entries.keys { state.entries[credentials]?.fileCheckAt = 0 }
        }
    }

    /// Updates the gauges of the ages of tokens in use.
    func recordGauges() {
        let time = seconds
        for (credentials, entry) in state.withLock({ $0.entries }) {
            metrics.tokenAge(time - entry.token.issuedAt, of: credentials)
        }
    }

    private var seconds: Int { Int(now().timeIntervalSince1970) }

    /// The present token, if it is still valid and its key file has not changed.
    private func current(_ credentials: Credentials, _ time: Int) throws -> ProviderToken? {
        try state.withLock { state in
            guard let entry = state.entries[credentials] else { return nil }
            // The second condition is for a clock that was set back.
            if time >= entry.fileCheckAt || time < entry.fileCheckAt - Self.fileCheckInterval {
                let key = try keys.key(credentials.keyID).get()
                if key.fingerprint != entry.token.fingerprint {
                    state.entries[credentials] = nil
                    return nil
                }
                state.entries[credentials]?.fileCheckAt = time + Self.fileCheckInterval
            }
            return TokenSchedule.isUsable(issuedAt: entry.token.issuedAt, now: time) ? entry.token : nil
        }
    }

    private func isDue(_ token: ProviderToken, of credentials: Credentials, _ time: Int) -> Bool {
        guard TokenSchedule.isDue(issuedAt: token.issuedAt, now: time) else { return false }
        return state.withLock { time >= $0.entries[credentials]?.heldUntil ?? 0 }
    }

    private func renewal(
        of credentials: Credentials, issuedAt: Int, replacing limit: Int? = nil
    ) -> Task<ProviderToken, any Error> {
        state.withLock { state in
            if let running = state.renewals[credentials] { return running }
            // The renewal is a separate task, because its first caller may be cancelled while other callers wait for
            // the token.
            let task = Task {
                defer { self.state.withLock { $0.renewals[credentials] = nil } }
                return try await self.renew(credentials, issuedAt: issuedAt, replacing: limit)
            }
            state.renewals[credentials] = task
            return task
        }
    }

    private func renew(_ credentials: Credentials, issuedAt: Int, replacing limit: Int?) async throws -> ProviderToken {
        let key = try keys.key(credentials.keyID).get()
        let offer = try ProviderToken(credentials: credentials, key: key, issuedAt: issuedAt)
        let agreed = await agree(
            on: offer, signedBy: key, of: credentials, replacing: limit ?? seconds - TokenSchedule.life)
        let time = seconds
        let token = state.withLock { state -> ProviderToken in
            let old = state.entries[credentials]
            guard let token = agreed ?? (limit == nil ? Self.usable(old?.token, like: offer, time) : nil) else {
                // There is no shared token, and the present token is missing, expired or to be replaced. So this
                // process uses the token that it has just made.
                state.entries[credentials] = Self.entry(offer, after: old, time)
                return offer
            }
            state.entries[credentials] = Self.entry(token, after: old, time)
            // Wait before the next renewal; otherwise each call would wait for the database.
            if agreed == nil { state.entries[credentials]?.heldUntil = time + Self.retryInterval }
            return token
        }
        metrics.renewed()
        logger.debug(
            "provider token renewed",
            metadata: ["team": "\(credentials.teamID)", "key": "\(credentials.keyID)", "iat": "\(token.issuedAt)"])
        return token
    }

    private static func usable(_ token: ProviderToken?, like offer: ProviderToken, _ time: Int) -> ProviderToken? {
        guard let token, token.fingerprint == offer.fingerprint,
            TokenSchedule.isUsable(issuedAt: token.issuedAt, now: time)
        else { return nil }
        return token
    }

    private static func entry(_ token: ProviderToken, after old: Entry?, _ time: Int) -> Entry {
        var entry = Entry(token: token, fileCheckAt: time + fileCheckInterval)
        entry.previous = old?.token == token ? old?.previous : old?.token
        entry.heldUntil = old?.heldUntil ?? 0
        return entry
    }

    /// The token that all replicas use; `nil`: the store gave no answer.
    private func agree(
        on offer: ProviderToken, signedBy signer: SigningKey, of credentials: Credentials, replacing limit: Int
    ) async -> ProviderToken? {
        guard let store else { return offer }
        do {
            let shared = try await store.agree(
                on: offer.shared(sealedWith: signer),
                for: ProviderTokenKey(credentials: credentials, fingerprint: offer.fingerprint), replacing: limit)
            return try ProviderToken(shared, openedWith: signer)
        } catch {
            logger.warning(
                "the provider token could not be shared through the database",
                metadata: ["key": "\(credentials.keyID)", "error": "\(error)"])
            return nil
        }
    }
}
