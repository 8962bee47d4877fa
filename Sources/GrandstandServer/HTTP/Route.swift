internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird

/// One operation of the contract with its handler.
struct Route: Sendable {
    /// A request that was parsed and checked, and the remaining work, which needs the database.
    struct Prepared: Sendable {
        /// The semaphore at which the request waits before any database access; `nil`: the request does not wait.
        var turn: Semaphore?
        let answer: @Sendable () async throws -> Response
    }

    typealias Handler = @Sendable (Request, APIContext) async throws -> Response
    typealias Preparation = @Sendable (Request, APIContext) async throws -> Prepared
    /// Returns the answer for an earlier request that began to make an object and was never answered. `nil`: the
    /// earlier request had no effect.
    typealias Recovery = @Sendable (UUID, APIContext) async throws -> Response?

    let operation: Contract.Operation
    let method: HTTPRequest.Method
    /// The scopes of which the key needs one; empty: every valid key; `nil`: no authentication. If there are several, the
    /// handler decides which of them the request needs.
    var scopes: [Contract.Scope]?
    /// The maximum size of a body in bytes.
    let bodyLimit: Int
    /// Whether the answer is stored for an `Idempotency-Key`.
    var keepsAnswers: Bool
    /// Finds the answer of an interrupted request. Set for work that calls Apple, because such work cannot be one
    /// transaction.
    let recover: Recovery?
    let prepare: Preparation

    init(
        _ operation: Contract.Operation, bodyLimit: Int = Route.standardBodyLimit, recover: Recovery? = nil,
        _ handler: @escaping Handler
    ) {
        self.init(
            operation, bodyLimit: bodyLimit, recover: recover,
            prepare: { request, context in Prepared { try await handler(request, context) } })
    }

    /// A route whose requests may have to wait at a semaphore. `prepare` parses a request and does not use the
    /// database.
    init(
        _ operation: Contract.Operation, bodyLimit: Int, recover: Recovery? = nil, prepare: @escaping Preparation
    ) {
        self.operation = operation
        // The force-unwrap is safe: the contract's methods are valid HTTP tokens.
        method = HTTPRequest.Method(operation.method)!
        scopes = operation.scopes
        self.bodyLimit = bodyLimit
        keepsAnswers = operation.keepsAnswers
        self.recover = recover
        self.prepare = prepare
    }

    /// Prepares a request and then answers it. If the prepared request has a semaphore, it waits for a permit before it
    /// is answered.
    func answer(_ request: Request, _ context: APIContext) async throws -> Response {
        let prepared = try await prepare(request, context)
        return try await Self.inTurn(prepared.turn) { try await prepared.answer() }
    }

    /// Runs `body` when the semaphore `turn` gives a permit, or at once if `turn` is `nil`.
    static func inTurn<Value: Sendable>(
        _ turn: Semaphore?, _ body: () async throws -> Value
    ) async throws -> Value {
        guard let turn else { return try await body() }
        return try await turn.withPermit { try await body() }
    }

    static let standardBodyLimit = 64 * 1024
}
