package import FoundationEssentials
package import Grandstand
internal import HTTPTypes
package import Hummingbird

/// A person who signed in to the console with a key.
package struct PageSession: Sendable {
    /// The session's key, which is valid.
    package let key: APIKey
    /// What only the session's owner has: kept answers are sealed with it, as with a key's own secret.
    package let secret: String

    package init(key: APIKey, secret: String) {
        self.key = key
        self.secret = secret
    }
}

/// What a page may do with one request: ask whose key a secret is, and call the API as the key that is signed in.
///
/// A call goes through the API's own router, gate and middleware, so that no rule of the API is written twice; the one
/// thing it does not bring is the key's secret, which the page has forgotten.
package struct PageDoor: Sendable {
    let gate: Gate
    let idempotency: Idempotency
    let context: APIContext
    private let responder: @Sendable (Request, APIContext) async throws -> Response

    init(
        gate: Gate, idempotency: Idempotency, context: APIContext,
        responder: @escaping @Sendable (Request, APIContext) async throws -> Response
    ) {
        self.gate = gate
        self.idempotency = idempotency
        self.context = context
        self.responder = responder
    }

    /// Whose key `secret` is.
    ///
    /// - Throws: `unauthenticated`, counted for the address it came from; `rate-limited`.
    package func identify(_ secret: String) async throws -> APIKey {
        let key = try await gate.identify(secret, context, for: .anyKey)
        gate.uses.used(key.id, at: gate.now())
        return key
    }

    /// Counts a request in a session of `key`.
    ///
    /// - Throws: `rate-limited`.
    package func resume(_ key: APIKey) throws(Problem) {
        gate.uses.used(try gate.resume(key, context, for: .anyKey).id, at: gate.now())
    }

    /// Counts a wrong secret for the address it came from, and says `detail`, or when to come again.
    package func refusal(_ detail: String) -> Problem { gate.refusal(detail, context, gate.now()) }

    /// Carries one call of the API: no stream, for a call's answer is whole.
    ///
    /// - Returns: the answer with its body's bytes; a refusal is an answer, too.
    package func call(_ request: Request, in session: PageSession) async throws -> (head: Response, body: [UInt8]) {
        var head = request.head
        head.headerFields[.xRequestID] = self.context.requestID
        let call = Request(head: head, body: request.body)
        var context = APIContext(
            source: ApplicationRequestContextSource(channel: self.context.channel, logger: self.context.logger))
        context.session = session
        let response = try await responder(call, context)
        return (response, try await response.bytes())
    }

    /// The first answer to a call of a session that is over since, as by the rotation that the call asked for. Nothing is
    /// carried out.
    ///
    /// - Parameters:
    ///   - key: the session's.
    ///   - secret: the session's: what is kept cannot be read without it.
    /// - Throws: `unauthenticated` where nothing is kept.
    package func kept(
        _ request: Request, of key: UUID, secret: String
    ) async throws -> (head: Response, body: [UInt8]) {
        let response = try await idempotency.kept(request, of: key, secret: secret)
        return (response, try await response.bytes())
    }
}
