internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// One action of a form: its address, the scope it requires, and its handler.
///
/// A form's token proves that the form is from a page of this session (`FormToken`). Actions that cannot be undone also
/// ask for the key again. Handlers use the same operations as the API's routes.
struct ActionRoute: Sendable {
    typealias Handler = @Sendable (Submission) async throws -> PageRoute.Answer

    /// The path in Hummingbird's syntax: `/console/keys/:id/revoke`.
    let path: String
    /// The scope that the action requires; `nil`: every key may send the form, and the operation checks the scope.
    let scope: Contract.Scope?
    /// Whether the action cannot be undone, so that the form must contain the key in the field `currentKey`.
    let irreversible: Bool
    /// The maximum size of the form in bytes.
    let bodyLimit: Int
    let handler: Handler

    static let standardLimit = 256 * 1_024

    init(
        _ path: String, _ scope: Contract.Scope?, irreversible: Bool = false,
        bodyLimit: Int = ActionRoute.standardLimit,
        _ handler: @escaping Handler
    ) {
        self.path = Console.path + path
        self.scope = scope
        self.irreversible = irreversible
        self.bodyLimit = bodyLimit
        self.handler = handler
    }
}

/// A form whose token was checked.
struct Submission: Sendable {
    let visit: Visit
    let fields: FormFields
    let token: FormToken

    /// Calls an operation of the API. It has its effect once, however often the form is sent: a repetition gets the first
    /// answer, without a secret. A deletion of an object that is gone already succeeds.
    ///
    /// - Throws: the problem that the API would answer with.
    func call(_ call: PageCall) async throws -> CallAnswer {
        let isDeletion = call.operation.method == "DELETE"
        var call = call
        // Deletions and reads may be repeated anyhow.
        if !isDeletion, call.operation.method != "GET" {
            call.idempotencyKey = token.idempotencyKey(visit.path, fields)
        }
        do {
            return try await visit.call(call)
        } catch let problem as Problem where isDeletion && Self.gone.contains(problem.kind) {
            return try CallAnswer()
        }
    }

    private static let gone: Set<Problem.Kind> = [.webhookNotFound, .appNotFound, .channelNotFound]
}
