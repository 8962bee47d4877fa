internal import Cryptography
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import JSON

/// One page, or the action of a form: its path, the scope it requires, and its handler. Handlers use the same operations
/// as the API's routes.
struct PageRoute: Sendable {
    typealias Handler = @Sendable (Visit) async throws -> Answer

    enum Answer: Sendable {
        /// Another status than 200 is that of a refusal, which the page explains.
        case page(any ConsolePage, status: Int = 200)
        /// Redirects to another page of the console, which shows the notice about what was done.
        case redirect(String, notice: String? = nil)
    }

    /// A form must have a token that proves that it is from a page of this session (`SessionSecret`). If its action cannot be
    /// undone, it must also have the key in the field `currentKey`.
    enum FormKind: Sendable { case reversible, irreversible }

    /// The path in Hummingbird's syntax: `/console/events/:key`. A form's path ends with the action:
    /// `/console/keys/:id/revoke`.
    let pattern: String
    /// The scope that is required; `nil`: every key may see the page or send the form, and the operation checks the
    /// scope.
    let scope: Contract.Scope?
    /// `nil`: it is a page.
    let form: FormKind?
    let handler: Handler

    init(_ path: String, _ scope: Contract.Scope?, form: FormKind? = nil, _ handler: @escaping Handler) {
        (pattern, self.scope, self.form, self.handler) = (Console.path + path, scope, form, handler)
    }
}

/// One request for a page, or one form whose token was checked, with its key. Like the API, it checks that the key may
/// access the app in the path.
struct Visit: PathReading {
    let key: APIKey
    let query: QueryParameters
    /// The path of the request, without the query.
    let path: String
    let parameters: Parameters
    let now: Date
    /// The form's fields.
    var fields = FormFields("")
    /// What identifies the form; `nil`: no form was sent.
    var formID: [UInt8]?
    /// Calls an operation of the API with the visitor's key.
    var perform: @Sendable (PageCall) async throws -> Response

    /// Calls an operation of the API. It has its effect once, however often the form is sent: a repetition gets the first
    /// answer, without a secret.
    ///
    /// - Parameters:
    ///   - parameters: the parameters of the path, percent-encoded; `nil`: those of this page's path.
    ///   - body: the body's JSON; `nil`: there is none.
    /// - Returns: the answer's JSON, an empty object if there is none, and its `ETag`.
    /// - Throws: the problem that the API would answer with.
    func call(
        _ operation: Contract.Operation, _ parameters: Parameters? = nil, query: [String: String] = [:],
        body: [UInt8]? = nil, _ headers: HTTPFields = [:]
    ) async throws -> (object: JSONValue, version: String?) {
        var headers = headers
        // Deletions and reads may be repeated anyhow.
        if let formID, !["DELETE", "GET"].contains(operation.method) {
            // The key stays the same if the form is sent again with the same fields.
            let content = fields.entries.filter { $0.name != "token" }.map { "\n\($0.name)=\($0.value)" }
            headers[.idempotencyKey] =
                "console-" + Base64URL.text(SHA256.hash(formID + Array((path + content.joined()).utf8)))
        }
        let response = try await perform((operation, parameters ?? self.parameters, query, body, headers))
        let bytes = try await response.bytes()
        return (try JSONValue(decoding: bytes.isEmpty ? Array("{}".utf8) : bytes), response.headers[.eTag])
    }

    /// Whether this is the first page of a list.
    var isFirstPage: Bool { query["cursor"] == nil }

    var reach: AppReach { key.reach }
}

/// The call of an operation by a page. The headers are the conditions of a write, and the `Idempotency-Key` of a form.
typealias PageCall = (
    operation: Contract.Operation, parameters: Parameters, query: [String: String], body: [UInt8]?, headers: HTTPFields
)
