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
struct Sessions: Sendable {
    let database: Database
    let keys: KeyStore
    let now: @Sendable () -> Date

    /// Seconds from sign-in until the session ends, even if it is used: one shift.
    static let lifetime: TimeInterval = 43_200
    /// Seconds without a request after which the session ends.
    static let idleTime: TimeInterval = 7_200
    /// Seconds between two records of its use.
    private static let noteInterval: TimeInterval = 60

    /// Stores a new session, and deletes sessions that are over.
    func begin(_ key: APIKey) async throws -> SessionSecret {
        let secret = SessionSecret()
        let now = now()
        try await database.transaction { connection in
            _ = try await connection.pipeline([
                """
                delete from console_sessions
                where started_at < \(now.addingTimeInterval(-Self.lifetime))
                    or used_at < \(now.addingTimeInterval(-Self.idleTime))
                """,
                "insert into console_sessions (id, key, started_at, used_at) values (\(secret.id), \(key.id), \(now), \(now))",
            ])
        }
        return secret
    }

    /// - Parameter extendsSession: whether a person made the request. A request of a page's script does not extend the
    ///   session, and leaves its notice for the next page.
    /// - Throws: `unauthenticated` if the session has ended, never existed, or its key is no longer valid;
    ///   `store-unavailable`.
    func signedIn(_ text: String, extendsSession: Bool) async throws -> SignedIn {
        let now = now()
        guard let secret = SessionSecret(text),
            let row = try await database.query(
                "select key, started_at, used_at, notice from console_sessions where id = \(secret.id)"
            ).first
        else { throw Self.over("It was ended, or is older than the server remembers.") }
        let (startedAt, usedAt): (Date, Date) = (try row.decode("started_at"), try row.decode("used_at"))
        guard now.timeIntervalSince(startedAt) < Self.lifetime, now.timeIntervalSince(usedAt) < Self.idleTime else {
            throw Self.over("A session ends after two hours without use, and after twelve hours in any case.")
        }
        guard let key = try await keys.validKey(try row.decode("key")) else {
            throw Self.over("Its key was revoked, was rotated without an overlap, or has expired.")
        }
        guard key.replacedBy == nil else { throw Self.over("Its key was rotated. \(Self.rotated)") }
        let notice: String? = try extendsSession ? row.decode("notice") : nil
        if extendsSession, notice != nil || now.timeIntervalSince(usedAt) >= Self.noteInterval {
            // Another request may have recorded a later use meanwhile.
            try await database.query(
                """
                update console_sessions set used_at = greatest(used_at, \(now)), notice = null where id = \(secret.id)
                """)
        }
        return SignedIn(key: key, session: secret, notice: notice)
    }

    /// Keeps a sentence for the session's next page.
    func tell(_ notice: String, _ session: SessionSecret) async throws {
        try await database.query("update console_sessions set notice = \(notice) where id = \(session.id)")
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
        try await database.query("delete from console_sessions where id = \(secret.id)")
    }

    private static func over(_ why: String) -> Problem {
        Problem(.unauthenticated, "This session is over. \(why)")
    }
}

/// The secret of a browser's session: 256 random bits. The server stores only a hash of the secret, so a person who
/// reads the database cannot authenticate data with it.
struct SessionSecret: Sendable {
    /// The text in the cookie: base64url.
    let text: String
    private let key: [UInt8]

    /// Makes a new secret.
    init() {
        key = randomBytes(32)
        text = Base64URL.text(key)
    }

    /// - Returns: `nil` for text that is not a secret.
    init?(_ text: String) {
        guard let bytes = Base64URL.bytes(text), bytes.count == 32 else { return nil }
        self.text = text
        key = bytes
    }

    /// The session's ID: the hash of the secret.
    var id: [UInt8] { SHA256.hash(key) }

    /// A tag of 32 bytes over `bytes`.
    func tag(_ bytes: [UInt8]) -> [UInt8] { SHA256.hmac(Array("grandstand form\n".utf8) + bytes, key: key) }
}

/// The cookie of a browser that is signed in: the session's secret.
struct SessionCookie: Sendable {
    private static let name = "grandstand-session"

    /// Whether the server itself speaks HTTPS.
    let isSecure: Bool

    static func value(in request: Request) -> String? {
        guard let value = request.cookies[name]?.value, !value.isEmpty else { return nil }
        return value
    }

    /// The cookie with a value; an empty value with the age 0 deletes it.
    ///
    /// Scripts cannot read it, other sites' pages do not send it, and browsers send it to the console only. If this
    /// server or a proxy in front of it uses HTTPS, browsers never send it over plain HTTP.
    func cookie(_ value: String, maxAge: Int, for request: Request) -> Cookie {
        Cookie(
            name: Self.name, value: value, maxAge: maxAge, path: Console.path,
            secure: isSecure || request.cameByHTTPS, httpOnly: true, sameSite: .strict)
    }
}

/// The token of a form. The token proves that the form is from a page of this session. The number in the token
/// identifies the form, so that a form that is sent twice is recognised.
struct FormToken: Sendable {
    /// 16 random bytes, different for every page.
    private let number: [UInt8]

    /// The text of a new token.
    static func text(for session: SessionSecret) -> String {
        let number = randomBytes(16)
        return Base64URL.text(number + session.tag(number))
    }

    /// - Returns: `nil` for text that is not a token of this session.
    init?(_ text: String?, of session: SessionSecret) {
        guard let bytes = text.flatMap({ Base64URL.bytes($0) }), bytes.count == 48 else { return nil }
        number = Array(bytes.prefix(16))
        guard isEqualInConstantTime(Array(bytes.dropFirst(16)), session.tag(number)) else { return nil }
    }

    /// The idempotency key of a form's action. The key stays the same if the form is sent again with the same fields.
    /// With other fields, the key is different.
    func idempotencyKey(_ path: String, _ fields: FormFields) -> String {
        let content = fields.entries.filter { $0.name != "token" }.map { "\($0.name)=\($0.value)" }
        return "console-"
            + Base64URL.text(SHA256.hash(number + Array("\(path)\n\(content.joined(separator: "\n"))".utf8)))
    }
}
