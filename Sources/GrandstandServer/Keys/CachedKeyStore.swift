internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Synchronization

/// All keys in memory, by the hash of their secret, so that calls are authenticated without asking the database.
///
/// The keys are read again whenever a notification or the table `lookup_journal` says that a key has changed, so a
/// revocation takes effect within a second on every replica. While the database does not answer, known keys stay valid
/// for a bounded time; callers can then only look things up.
///
/// A secret that is not in memory may belong to a key that was just created. The database is asked for such secrets
/// together, in one query at a time. Many wrong keys make the queries larger, but not more frequent; a valid key among
/// many wrong ones only waits for the next query.
final class CachedKeyStore: Sendable {
    private struct State {
        var keys: [SecretHash: APIKey] = [:] { didSet { byID = nil } }
        /// `keys` by their IDs; `nil`: this dictionary was not needed since the last change of `keys`.
        var byID: [UUID: APIKey]?
        var confirmedAt: Date?
        /// Whether a change of keys was announced but not read yet.
        var isBehind = true
        /// Counts changes and readings. A result that was read in an earlier epoch may be out of date.
        var epoch = 0
        /// Hashes that the database did not know, and until when they count as wrong.
        var unknown: [SecretHash: Date] = [:]

        mutating func hold(_ current: [SecretHash: APIKey], readAt moment: Date) {
            keys = current
            isBehind = false
            confirmedAt = moment
        }
    }

    /// Seconds for which a wrong key is known to be wrong.
    private static let unknownFor: TimeInterval = 1
    private static let unknownCapacity = 10_000
    /// The maximum number of secrets in one query. `questionCapacity` is the maximum number of callers that may wait
    /// for a query.
    private static let questionLimit = 500
    private static let questionCapacity = 20_000

    let store: KeyStore
    private let staleLimit: TimeInterval
    private let outages: OutageLog?
    private let now: @Sendable () -> Date
    private let state = Mutex(State())
    private let signal = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let questions: Batch<SecretHash, APIKey?>

    /// - Parameters:
    ///   - staleLimit: how many seconds keys stay valid while the database cannot confirm them.
    ///   - outages: is told when keys cannot be read.
    init(
        _ store: KeyStore, staleLimit: TimeInterval = 600, outages: OutageLog? = nil,
        now: @escaping @Sendable () -> Date
    ) {
        self.store = store
        self.staleLimit = staleLimit
        self.outages = outages
        self.now = now
        questions = Batch(limit: Self.questionLimit, capacity: Self.questionCapacity, failsWholeBatch: { _ in true }) {
            let found = try await store.keys(hashes: Array(Set($0)))
            return $0.map { found[$0] }
        }
    }

    // MARK: Keeping up

    /// Reads the keys at once, and after each change, until cancelled.
    func run() async {
        signal.continuation.yield()
        for await _ in signal.stream {
            while state.withLock(\.isBehind), !Task.isCancelled {
                if !(await reload()) { try? await Task.sleep(for: .milliseconds(500)) }
            }
        }
    }

    /// A key was created, changed or revoked, here or on another replica, so the keys must be read from the database
    /// again.
    func changed() {
        state.withLock { state in
            state.isBehind = true
            state.epoch += 1
            state.unknown.removeAll(keepingCapacity: true)
        }
        signal.continuation.yield()
    }

    /// At `moment` the database confirmed that memory has all changes.
    func confirmed(at moment: Date) {
        state.withLock { if !$0.isBehind { $0.confirmedAt = moment } }
    }

    /// - Returns: whether the database answered; if it did not, the keys in memory stay as they were.
    @discardableResult
    func reload() async -> Bool {
        let moment = now()
        let epoch = state.withLock { state in
            state.epoch += 1
            return state.epoch
        }
        let current: [SecretHash: APIKey]
        do {
            current = try await store.validKeys()
        } catch {
            // When the process stops, a query may fail with any error. Such a failure is no outage.
            if !Task.isCancelled { outages?.failed(error) }
            return false
        }
        outages?.worked()
        state.withLock { state in
            // If a change was announced meanwhile, this result may lack it. `isBehind` stays true, so `run` reads the
            // keys again.
            guard state.epoch == epoch else { return }
            state.hold(current, readAt: moment)
        }
        return true
    }

    /// Holds these keys as if they had been read now.
    func hold(_ keys: [SecretHash: APIKey]) { state.withLock { $0.hold(keys, readAt: now()) } }

    // MARK: Asking

    /// The key with this secret, if memory may be trusted now: the key is known, valid and recently confirmed. `nil`
    /// does not mean that the secret is wrong: `authenticate` decides that.
    func known(_ secret: some StringProtocol) -> APIKey? { known(hash: SecretHash(of: secret)) }

    private func known(hash: SecretHash) -> APIKey? {
        let now = now()
        return state.withLock { state in
            guard let confirmedAt = state.confirmedAt, now.timeIntervalSince(confirmedAt) <= staleLimit else {
                return nil
            }
            guard let key = state.keys[hash], !key.isExpired(at: now) else { return nil }
            return key
        }
    }

    /// The key with this secret; `nil`: there is none, or it is revoked or expired.
    ///
    /// - Throws: `store-unavailable`.
    func authenticate(_ secret: String) async throws -> APIKey? {
        let hash = SecretHash(of: secret)
        if let key = known(hash: hash) { return key }
        let moment = now()
        let (isWrong, epoch) = state.withLock { (state: inout State) -> (Bool, Int) in
            (state.unknown[hash].map { $0 > moment } ?? false, state.epoch)
        }
        if isWrong { return nil }
        let key = try await questions.run(hash)
        state.withLock { state in
            guard state.epoch == epoch else { return }
            if let key {
                state.keys[hash] = key
            } else {
                if state.unknown.count >= Self.unknownCapacity { state.unknown.removeAll(keepingCapacity: true) }
                state.unknown[hash] = moment.addingTimeInterval(Self.unknownFor)
            }
        }
        return key
    }

    /// The key with this ID, if it is valid now, for callers with a session. If the key is not in memory, the database
    /// is asked: the key may have been made a moment ago, or may not be valid.
    ///
    /// - Throws: `store-unavailable`.
    func validKey(_ id: UUID) async throws -> APIKey? {
        let moment = now()
        let known = state.withLock { state -> APIKey? in
            guard let confirmedAt = state.confirmedAt, moment.timeIntervalSince(confirmedAt) <= staleLimit else {
                return nil
            }
            if state.byID == nil {
                state.byID = Dictionary(state.keys.values.map { ($0.id, $0) }) { first, _ in first }
            }
            return state.byID?[id]
        }
        guard let known else { return try await store.validKey(id, at: moment) }
        return known.isExpired(at: moment) ? nil : known
    }

    // MARK: Changing

    func revoke(_ id: UUID, disablingWebhooks: Bool, by actor: AuditActor, now: Date) async throws -> Bool {
        let isChanged = try await store.revoke(id, disablingWebhooks: disablingWebhooks, by: actor, now: now)
        forget(id)
        return isChanged
    }

    func rotate(_ id: UUID, overlapEnds: Date, by actor: AuditActor, now: Date) async throws -> Contract.IssuedKey? {
        let issued = try await store.rotate(id, overlapEnds: overlapEnds, by: actor, now: now)
        forget(id)
        return issued
    }

    /// Makes a change take effect in this process as soon as it is committed. In other processes, the change takes
    /// effect when it is announced. Results of queries that began before the change are ignored.
    private func forget(_ id: UUID) {
        store.database.afterCommit { [self] in
            state.withLock { state in state.keys = state.keys.filter { $0.value.id != id } }
            changed()
        }
    }
}
