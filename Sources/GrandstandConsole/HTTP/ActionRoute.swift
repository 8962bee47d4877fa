internal import Grandstand
internal import JSON

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

    /// Calls the API as the key that is signed in. A POST is carried out once however often the form is sent.
    ///
    /// - Returns: the answer, a refusal too; `accepted()` throws those.
    func call(_ call: APICall) async throws -> APIAnswer {
        var call = call
        if call.method == "POST", call.idempotencyKey == nil {
            call.idempotencyKey = token.idempotencyKey(call, confirmedBy: fields["currentKey"])
        }
        return try await visit.carry(call)
    }

    /// Makes a call, and goes on to a page that says what was done.
    func done(_ call: APICall, at path: String, _ notice: String) async throws -> PageRoute.Answer {
        _ = try await self.call(call).accepted()
        return .done(path, notice: notice)
    }

    /// A PUT or PATCH under a condition, which a form that is sent twice breaks the second time: what it wants is there
    /// then.
    ///
    /// - Returns: the answer, a refusal too.
    func write(_ call: APICall) async throws -> APIAnswer {
        let answer = try await self.call(call)
        guard answer.status == 412, let wanted = try call.body.map({ try JSONValue(parsing: $0) }) else {
            return answer
        }
        let present = try await self.call(APICall("GET", call.path))
        guard present.problem == nil, let json = try? present.json(), json.says(wanted) else { return answer }
        return present
    }

    /// Deletes what may be gone already: a form that is sent twice wants nothing else.
    ///
    /// - Throws: `APIProblem`.
    func delete(_ path: String) async throws {
        let answer = try await call(APICall("DELETE", path))
        if answer.status != 404 { _ = try answer.accepted() }
    }
}
