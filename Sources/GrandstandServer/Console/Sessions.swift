internal import Cryptography
internal import FoundationEssentials
internal import Grandstand
internal import Hummingbird
internal import Postgres

/// A browser that is signed in.
struct SignedIn: Sendable {
    let key: APIKey
    let session: SessionSecret
    /// A sentence about the action that was performed just before, to be shown once.
    var notice: String?
}

/// The sessions of signed-in browsers, in the table `console_sessions`, which all replicas share. The browser has a
/// secret. The session's ID is the hash of the secret, so that a reader of the database cannot sign in. Session and key
/// are checked with every request.
extension API {
    /// Stores a new session, and deletes sessions that are over.
    func beginSession(_ key: APIKey) async throws -> SessionSecret {
        let secret = SessionSecret()
        let now = now()
        try await stores.main.pipeline([
            """
            delete from console_sessions
            where started_at < \(now - SessionSecret.lifetime) or used_at < \(now - SessionSecret.idleTime)
            """,
            """
            insert into console_sessions (id, key, started_at, used_at)
            values (\(secret.id), \(key.id), \(now), \(now))
            """,
        ])
        return secret
    }

    /// - Parameter extends: whether a person made the request. A request of a page's script does not extend the session,
    ///   and leaves its notice for the next page.
    /// - Throws: `unauthenticated` if the session has ended, never existed, or its key is no longer valid;
    ///   `store-unavailable`.
    func useSession(_ secret: SessionSecret, extends: Bool) async throws -> SignedIn {
        let now = now()
        guard
            let row = try await stores.main.query(
                """
                with session as (
                    select id, key, notice from console_sessions
                    where id = \(secret.id) and started_at > \(now - SessionSecret.lifetime)
                        and used_at > \(now - SessionSecret.idleTime)
                ), used as (
                    update console_sessions c set used_at = greatest(c.used_at, \(now)), notice = null from session s
                    where c.id = s.id and \(extends))
                select key, notice from session
                """
            ).first, let key = try await keys.validKey(try row.decode("key")), key.replacedBy == nil
        else {
            throw Problem(
                .unauthenticated,
                "This session is over: it was ended, was not used for two hours, is twelve hours old, or its key was "
                    + "revoked, was rotated or has expired. A rotated key has a new secret.")
        }
        return SignedIn(key: key, session: secret, notice: extends ? try row.decode("notice") : nil)
    }

    /// Keeps a sentence for the session's next page.
    func tell(_ notice: String, _ session: SessionSecret) async throws {
        try await stores.main.query("update console_sessions set notice = \(notice) where id = \(session.id)")
    }

    /// Ends the session, also for copies of the cookie.
    func endSession(_ secret: SessionSecret) async throws {
        try await stores.main.query("delete from console_sessions where id = \(secret.id)")
    }
}

/// The secret of a browser's session: 256 random bits. The server stores only a hash of the secret, so a person who
/// reads the database cannot authenticate data with it.
struct SessionSecret: Sendable {
    /// Seconds from sign-in until the session ends, even if it is used: one shift.
    static let lifetime: TimeInterval = 43_200
    /// Seconds without a request after which the session ends.
    static let idleTime: TimeInterval = 7_200
    /// The text in the cookie: base64url.
    let text: String
    private let secret: [UInt8]

    /// Makes a new secret.
    init() {
        secret = randomBytes(32)
        text = Base64URL.text(secret)
    }

    /// - Returns: `nil` for text that is not a secret.
    init?(_ text: String) {
        guard let bytes = Base64URL.bytes(text), bytes.count == 32 else { return nil }
        (self.text, secret) = (text, bytes)
    }

    /// The session's ID: the hash of the secret.
    var id: [UInt8] { SHA256.hash(secret) }

    private func tag(_ bytes: [UInt8]) -> [UInt8] {
        SHA256.hmac(Array("grandstand form\n".utf8) + bytes, key: secret)
    }

    /// A new token of a form. It proves that the form is from a page of this session. The 16 random bytes at its
    /// beginning identify the form, so that a form that is sent twice is recognised.
    func formToken() -> String {
        let number = randomBytes(16)
        return Base64URL.text(number + tag(number))
    }

    /// - Returns: what identifies the form; `nil` for text that is not a token of this session.
    func formID(_ token: String?) -> [UInt8]? {
        guard let bytes = token.flatMap({ Base64URL.bytes($0) }), bytes.count == 48,
            isEqualInConstantTime(Array(bytes.dropFirst(16)), tag(Array(bytes.prefix(16))))
        else { return nil }
        return Array(bytes.prefix(16))
    }
}

private let cookieName = "grandstand-session"

extension Request {
    /// The secret in the cookie of a browser that is signed in.
    var session: SessionSecret? { cookies[cookieName].flatMap { SessionSecret($0.value) } }

    /// The cookie of a browser that is signed in: the session's secret. An empty value deletes it.
    ///
    /// Scripts cannot read it, other sites' pages do not send it, and browsers send it to the console only. If this
    /// server or a proxy in front of it uses HTTPS, browsers never send it over plain HTTP.
    ///
    /// - Parameter isSecure: whether the server itself speaks HTTPS.
    func sessionCookie(_ value: String, isSecure: Bool) -> Cookie {
        Cookie(
            name: cookieName, value: value, maxAge: value.isEmpty ? 0 : Int(SessionSecret.lifetime), path: Console.path,
            secure: isSecure || viaTLSProxy, httpOnly: true, sameSite: .strict)
    }
}
