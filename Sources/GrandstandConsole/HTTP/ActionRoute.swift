internal import Grandstand

/// One thing a form does: where it is sent, which scope it takes, what it asks of the API.
///
/// The form is from a page of this session (`FormToken`), and asks for the key again where nothing can be undone. What it
/// does, it does through `Submission.call`: no action writes to a store.
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

    init(
        _ path: String, _ scope: APIKey.Scope?, irreversible: Bool = false, bodyLimit: Int = 256 * 1_024,
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

    /// Calls the API as the key that is signed in. A POST is carried out once however often the form is sent.
    ///
    /// - Returns: the answer, a refusal too; `accepted()` throws those.
    func call(_ call: APICall) async throws -> APIAnswer {
        var call = call
        if call.method == "POST", call.idempotencyKey == nil { call.idempotencyKey = token.idempotencyKey(call) }
        return try await visit.carry(call)
    }

    /// A PUT under a condition, which a form that is sent twice breaks the second time: what it wants is there then.
    ///
    /// - Throws: `APIProblem`.
    func put(_ call: APICall) async throws -> APIAnswer {
        let answer = try await self.call(call)
        guard answer.status == 412, let wanted = try call.body.map({ try JSONValue(parsing: $0) }) else {
            return try answer.accepted()
        }
        let present = try await self.call(APICall("GET", call.path))
        guard present.problem == nil, case .object(let members) = wanted.kind, let json = try? present.json(),
            members.allSatisfy({ json[$0.name]?.bytes == $0.value.bytes })
        else { return try answer.accepted() }
        return present
    }
}
