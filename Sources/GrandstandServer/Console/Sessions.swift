internal import FoundationEssentials
internal import Grandstand

/// A browser that is signed in.
struct SignedIn: Sendable {
    let key: APIKey
    let session: SessionSecret
}

/// The sessions of signed-in browsers. Session and key are checked with every request.
struct Sessions: Sendable {
    let store: ConsoleSessionStore
    let keys: CachedKeyStore
    let now: @Sendable () -> Date

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
        guard let secret = SessionSecret(text), let session = try await store.session(secret.id) else {
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
        }
        return SignedIn(key: key, session: secret)
    }

    /// Advice for somebody who signs in with the old secret of a rotated key. The key's sessions ended with the
    /// rotation.
    static let rotated =
        "Sign in with its new secret, which was shown once, where it was rotated; the old one goes on for calls of "
        + "the API only. If the new one is lost, rotate the key with another admin key, or create a key: "
        + "grandstand keys create."

    /// Ends the session, also for copies of the cookie.
    func end(_ text: String) async throws {
        guard let secret = SessionSecret(text) else { return }
        try await store.end(secret.id)
    }

    private static func over(_ why: String) -> Problem {
        Problem(.unauthenticated, "This session is over. \(why)")
    }
}
