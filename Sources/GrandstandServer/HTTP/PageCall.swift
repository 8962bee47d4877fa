internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

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
