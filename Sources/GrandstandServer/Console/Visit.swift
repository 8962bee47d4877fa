internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import NIOCore

/// One page, or the action of a form: its path, the scope it requires, and its handler. Handlers use the same operations
/// as the API's routes.
struct PageRoute: Sendable {
    typealias Handler = @Sendable (Visit) async throws -> Answer

    enum Answer: Sendable {
        /// Another status than 200 is that of a refusal, which the page explains.
        case page(any ConsolePage, status: Int = 200)
        /// Redirects to another page of the console, which shows the notice about what was done.
        case elsewhere(String, notice: String? = nil)
    }

    /// What a form must have, besides a token that proves that it is from a page of this session (`FormToken`).
    struct Form: Sendable {
        /// Whether the action cannot be undone, so that the form must contain the key in the field `currentKey`.
        var isIrreversible = false
        /// The maximum size of the form in bytes.
        var bodyLimit = 256 * 1_024
    }

    /// The path in Hummingbird's syntax: `/console/events/:key`. A form's path ends with the action:
    /// `/console/keys/:id/revoke`.
    let path: String
    /// The scope that is required; `nil`: every key may see the page or send the form, and the operation checks the
    /// scope.
    let scope: Contract.Scope?
    /// `nil`: it is a page.
    let form: Form?
    let handler: Handler

    init(_ path: String, _ scope: Contract.Scope?, form: Form? = nil, _ handler: @escaping Handler) {
        self.path = Console.path + path
        self.scope = scope
        self.form = form
        self.handler = handler
    }
}

/// One request for a page, or one form whose token was checked, with its key. Like the API, it checks that the key may
/// access the app in the path.
struct Visit: Sendable {
    let key: APIKey
    let query: QueryParameters
    /// The path of the request, without the query.
    let path: String
    let parameters: Parameters
    let now: Date
    /// The form's fields.
    var fields = FormFields("")
    /// `nil`: no form was sent.
    var token: FormToken?
    /// Calls an operation of the API with the visitor's key.
    var perform: @Sendable (PageCall) async throws -> Response

    /// Calls an operation of the API. It has its effect once, however often the form is sent: a repetition gets the first
    /// answer, without a secret. A deletion of an object that is gone already succeeds.
    ///
    /// - Returns: the answer's JSON, an empty object if there is none, and its `ETag`.
    /// - Throws: the problem that the API would answer with.
    func call(_ call: PageCall) async throws -> (object: JSONValue, version: String?) {
        let method = call.operation.method
        var call = call
        // Deletions and reads may be repeated anyhow.
        if !["DELETE", "GET"].contains(method) { call.headers[.idempotencyKey] = token?.idempotencyKey(path, fields) }
        var (bytes, version): ([UInt8], String?) = ([], nil)
        do {
            let response = try await perform(call)
            (bytes, version) = (try await response.bytes(), response.headers[.eTag])
        } catch let problem as Problem where method == "DELETE" && problem.status == 404 {}
        return (try JSONValue(decoding: bytes.isEmpty ? Array("{}".utf8) : bytes), version)
    }

    /// Whether this is the first page of a list.
    var isAtStart: Bool { query["cursor"] == nil }
}

extension Visit: PathReading {
    var reach: AppReach { key.reach }
}

/// The call of an operation by a page.
struct PageCall: Sendable {
    let operation: Contract.Operation
    /// The parameters of the path, percent-encoded.
    var parameters: Parameters
    var query: [String: String] = [:]
    /// The body's JSON; `nil`: there is none.
    var body: [UInt8]?
    /// The conditions of a write, and the `Idempotency-Key` of a form.
    var headers: HTTPFields = [:]

    /// The parameters of its path are in the context, and so is its query.
    func request(_ method: HTTPRequest.Method) -> Request {
        var headers = headers
        headers[.contentLength] = String(body?.count ?? 0)
        if body != nil { headers[.contentType] = "application/json" }
        return Request(
            head: HTTPRequest(method: method, scheme: nil, authority: nil, path: operation.path, headerFields: headers),
            body: RequestBody(buffer: ByteBuffer(bytes: body ?? [])))
    }
}
