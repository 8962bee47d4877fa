internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// One thing a form does: where it is sent, which scope it takes, what it does.
///
/// The form is from a page of this session (`FormToken`), and asks for the key again where nothing can be undone. What it
/// does, it does by the operations that the API's routes call.
struct ActionRoute: Sendable {
    typealias Handler = @Sendable (Submission) async throws -> PageRoute.Answer

    /// Hummingbird's syntax, from the root: `/console/keys/:id/revoke`.
    let path: String
    /// `nil`: any key; the API decides.
    let scope: APIKey.Scope?
    /// Whether the form has to bring the key again, in the field `currentKey`.
    let irreversible: Bool
    /// Bytes a form may have.
    let bodyLimit: Int
    let handler: Handler

    static let standardLimit = 256 * 1_024

    init(
        _ path: String, _ scope: APIKey.Scope?, irreversible: Bool = false, bodyLimit: Int = ActionRoute.standardLimit,
        _ handler: @escaping Handler
    ) {
        self.path = Console.path + path
        self.scope = scope
        self.irreversible = irreversible
        self.bodyLimit = bodyLimit
        self.handler = handler
    }
}

/// A form that was sent, and is known to be ours.
struct Submission: Sendable {
    let visit: Visit
    let fields: FormFields
    let token: FormToken

    /// Carries an operation out once, however often the form is sent: the first answer is given again.
    ///
    /// - Throws: `forbidden` where the key does not hold the operation's scope; what `work` throws, which is not kept.
    func once<Answer: ContractValue & Sendable>(
        _ operation: Contract.Operation, _ work: @escaping @Sendable (Caller) async throws -> Answer
    ) async throws -> Answer {
        try Answer(json: try await onceAsJSON(operation, work))
    }

    /// The same for an answer that has no type in the contract's code.
    ///
    /// - Parameter recover: for work in several steps: the thing that an earlier form began to make; `nil`: the work is done
    ///   anew.
    func onceAsJSON<Answer: JSONWritable & Sendable>(
        _ operation: Contract.Operation, recover: (@Sendable (UUID) async throws -> Answer?)? = nil,
        _ work: @escaping @Sendable (Caller) async throws -> Answer
    ) async throws -> JSONValue {
        var recovery: FormRecovery?
        if let recover {
            recovery = { id in
                guard let begun = try await recover(id) else { return nil }
                return JSONWriter.text(begun)
            }
        }
        let bytes = try await visit.once(token.idempotencyKey(visit.path, fields), recovery) { [visit] in
            JSONWriter.text(try await work(visit.caller(of: operation)))
        }
        return try JSONValue(decoding: bytes)
    }
}
