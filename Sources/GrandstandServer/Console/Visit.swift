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
    let query: FormFields
    /// The path of the request, without the query.
    let path: String
    let parameters: Parameters
    let now: Date
    /// The form's fields.
    var fields = FormFields([])
    /// `nil`: no form was sent.
    var token: FormToken?
    /// Calls an operation of the API with the visitor's key.
    var perform: @Sendable (PageCall) async throws -> Response = { call in
        throw Problem(.notFound, "There is no operation \(call.operation.id) here.")
    }

    /// Calls an operation of the API. It has its effect once, however often the form is sent: a repetition gets the first
    /// answer, without a secret. A deletion of an object that is gone already succeeds.
    ///
    /// - Throws: the problem that the API would answer with.
    func call(_ call: PageCall) async throws -> CallAnswer {
        let isDeletion = call.operation.method == "DELETE"
        var call = call
        // Deletions and reads may be repeated anyhow.
        if !isDeletion, call.operation.method != "GET" { call.idempotencyKey = token?.idempotencyKey(path, fields) }
        do {
            let response = try await perform(call)
            return try CallAnswer(await response.bytes(), version: response.headers[.eTag])
        } catch let problem as Problem where isDeletion && Self.gone.contains(problem.kind) {
            return try CallAnswer()
        }
    }

    private static let gone: Set<Problem.Kind> = [.webhookNotFound, .appNotFound, .channelNotFound]

    /// Whether this is the first page of a list.
    var isAtStart: Bool { query["cursor"] == nil }
}

extension Visit: PathReading {
    func parameter(_ name: String) -> String? { parameters.get(name) }

    var reach: AppReach { key.reach }
}

/// The call of an operation by a page.
struct PageCall: Sendable {
    let operation: Contract.Operation
    /// The parameters of the path, percent-encoded.
    var parameters: Parameters
    var query: [(name: String, value: String)] = []
    /// The body's JSON; `nil`: there is none.
    var body: [UInt8]?
    /// The `ETag` that the object must have; `nil`: any.
    var version: String?
    /// Whether the object must not exist yet.
    var isNew = false
    var idempotencyKey: String?

    var queryText: String {
        query.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    }

    func request(_ method: HTTPRequest.Method) -> Request {
        var path = operation.path.split(separator: "/").map { part in
            part.hasPrefix("{") ? "/" + (parameters.get(String(part.dropFirst().dropLast())) ?? "") : "/" + part
        }.joined()
        if !query.isEmpty { path += "?" + queryText }
        var headers: HTTPFields = [:]
        headers[.ifMatch] = version
        headers[.ifNoneMatch] = isNew ? "*" : nil
        headers[.idempotencyKey] = idempotencyKey
        headers[.contentLength] = String(body?.count ?? 0)
        if body != nil { headers[.contentType] = "application/json" }
        return Request(
            head: HTTPRequest(method: method, scheme: nil, authority: nil, path: path, headerFields: headers),
            body: RequestBody(buffer: ByteBuffer(bytes: body ?? [])))
    }
}

/// The answer of an operation.
struct CallAnswer: Sendable {
    /// An empty object if the answer has no body.
    let object: JSONValue
    /// The text of its `ETag`.
    let version: String?

    init(_ bytes: [UInt8] = [], version: String? = nil) throws {
        object = try JSONValue(decoding: bytes.isEmpty ? Array("{}".utf8) : bytes)
        self.version = version
    }
}
