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

    /// Performs an operation once, however often the form is sent. A repetition gets the first answer, without
    /// a secret.
    ///
    /// - Parameter recover: given for work in several steps. `recover` returns the answer for an object that an earlier
    ///   form began to make. If `recover` returns `nil`, the work is done again.
    /// - Throws: `forbidden` if the key does not have the operation's scope; the errors of `work`, which are not
    ///   stored.
    func once<Answer: Codable & Sendable>(
        _ operation: Contract.Operation, recover: (@Sendable (UUID) async throws -> Answer?)? = nil,
        _ work: @escaping @Sendable (Caller) async throws -> Answer
    ) async throws -> Answer {
        var recovery: FormRecovery?
        if let recover {
            recovery = { id in
                guard let begun = try await recover(id) else { return nil }
                return JSONWriter.text(begun)
            }
        }
        let bytes = try await visit.once(token.idempotencyKey(visit.path, fields), operation, recovery) { [visit] in
            JSONWriter.text(try await work(visit.caller(of: operation)))
        }
        return try JSONValue(decoding: bytes).decode()
    }
}
