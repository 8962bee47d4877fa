internal import FoundationEssentials
internal import Grandstand
internal import Synchronization

/// A browser that is signed in.
struct SignedIn: Sendable {
    let key: APIKey
    let session: SessionSecret
}

/// The sessions of signed-in browsers. A session is cached for a second, so that many viewers of one match cost the
/// database little. The key is checked with every request.
final class Sessions: Sendable {
    private struct Seen {
        var session: ConsoleSession
        var until: Date
    }

    /// The maximum number of cached sessions. When there are more sessions, the cache is emptied.
    private static let capacity = 10_000
    private static let belief: TimeInterval = 1

    private let store: ConsoleSessionStore
    private let keys: CachedKeyStore
    private let now: @Sendable () -> Date
    private let seen = Mutex<[[UInt8]: Seen]>([:])

    init(store: ConsoleSessionStore, keys: CachedKeyStore, now: @escaping @Sendable () -> Date) {
        self.store = store
        self.keys = keys
        self.now = now
    }

    func begin(_ key: APIKey) async throws -> SignedIn {
        let secret = SessionSecret()
        let now = now()
        try await store.begin(ConsoleSession(id: secret.id, key: key.id, startedAt: now, usedAt: now))
        return SignedIn(key: key, session: secret)
    }

    /// - Parameter extendsSession: whether a person made the request. A request of a page's script does not extend the
    ///   session.
    /// - Throws: `unauthenticated` if the session has ended, never existed, or its key is no longer valid;
    ///   `store-unavailable`.
    func signedIn(_ text: String, extendsSession: Bool) async throws -> SignedIn {
        let now = now()
        guard let secret = SessionSecret(text), let session = try await session(secret.id, at: now) else {
            throw Self.over("It was ended, or is older than the server remembers.")
        }
        guard !session.isOver(at: now) else {
            throw Self.over("A session ends after two hours without use, and after twelve hours in any case.")
        }
        guard let key = try await keys.validKey(session.key) else {
            throw Self.over("Its key was revoked, was rotated without an overlap, or has expired.")
        }
        guard key.replacedBy == nil else { throw Self.over("Its key was rotated. \(Self.rotated)") }
        if extendsSession, now.timeIntervalSince(session.usedAt) >= ConsoleSession.noteInterval {
            try await store.used(session.id, at: now)
            seen.withLock { $0[session.id]?.session.usedAt = now }
        }
        return SignedIn(key: key, session: secret)
    }

    /// Advice for somebody who signs in with the old secret of a rotated key. The key's sessions ended with the
    /// rotation.
    static let rotated =
        "Sign in with its new secret, which was shown once, where it was rotated; the old one goes on for calls of "
        + "the API only. If the new one is lost, rotate the key with another admin key, or create a key: "
        + "grandstand keys create."

    /// Ends the session, also for copies of the cookie. Other replicas may accept the session for one more second.
    func end(_ text: String) async throws {
        guard let secret = SessionSecret(text) else { return }
        try await store.end(secret.id)
        _ = seen.withLock { $0.removeValue(forKey: secret.id) }
    }

    private func session(_ id: [UInt8], at now: Date) async throws -> ConsoleSession? {
        if let known = seen.withLock({ $0[id] }), known.until > now { return known.session }
        guard let session = try await store.session(id) else {
            _ = seen.withLock { $0.removeValue(forKey: id) }
            return nil
        }
        seen.withLock { seen in
            if seen.count >= Self.capacity { seen.removeAll() }
            seen[id] = Seen(session: session, until: now.addingTimeInterval(Self.belief))
        }
        return session
    }

    private static func over(_ why: String) -> Problem {
        Problem(.unauthenticated, "This session is over. \(why)")
    }
}
