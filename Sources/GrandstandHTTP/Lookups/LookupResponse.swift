internal import Grandstand
internal import GrandstandService
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// The answer to a lookup of what memory or the database has, whichever way it came: `LookupRoutes` answers with
/// `response`, `LookupHandler` writes it to the connection itself.
struct LookupResponse {
    let status: HTTPResponse.Status
    /// Those of the lookup; `StandingHeaders` adds those of every answer.
    var headers: HTTPFields
    /// Empty where the caller has it.
    let body: [UInt8]

    /// 200 with the entry, or 304 when the caller has it.
    ///
    /// - Parameter ifNoneMatch: the request's `If-None-Match`.
    init(_ body: LookupBody, _ freshness: LookupReplica.Freshness, ifNoneMatch: String?) {
        headers = HTTPFields()
        headers.reserveCapacity(Self.fieldCapacity)
        if freshness != .confirmed { headers.append(contentsOf: freshness.headers) }
        headers.append(HTTPField(name: .eTag, value: body.tag.text))
        headers.append(Self.cacheControl)
        if let ifNoneMatch, body.tag.matches(ifNoneMatch) {
            status = .notModified
            self.body = []
        } else {
            status = .ok
            headers.append(Self.contentType)
            self.body = body.bytes
        }
    }

    private static let cacheControl = HTTPField(name: .cacheControl, value: "public, max-age=10")
    private static let contentType = HTTPField(name: .contentType, value: "application/json")
    /// With those that are added to it later.
    private static let fieldCapacity = 16

    /// The answer of a route.
    var response: Response {
        Response(
            status: status, headers: headers,
            body: body.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    /// More than the status line and all header fields together take.
    private static let headCapacity = 640

    /// Writes the answer as HTTP/1.1 sends it.
    func write(to buffer: inout ByteBuffer) {
        buffer.reserveCapacity(minimumWritableBytes: Self.headCapacity + body.count)
        buffer.writeStaticString("HTTP/1.1 ")
        buffer.writeString(String(status.code))
        buffer.writeStaticString(" ")
        buffer.writeString(status.reasonPhrase)
        buffer.writeStaticString("\r\n")
        for field in headers {
            buffer.writeString(field.name.rawName)
            buffer.writeStaticString(": ")
            buffer.writeString(field.value)
            buffer.writeStaticString("\r\n")
        }
        if !body.isEmpty {
            buffer.writeStaticString("Content-Length: ")
            buffer.writeString(String(body.count))
            buffer.writeStaticString("\r\n")
        }
        buffer.writeStaticString("\r\n")
        buffer.writeBytes(body)
    }
}

extension LookupReplica.Freshness {
    /// Says of an answer that cannot be confirmed how old it is (RFC 9111, 5.1 and 5.5).
    var headers: HTTPFields {
        guard case .stale(let seconds) = self else { return [:] }
        return [.age: String(seconds), .warning: "110 - \"Response is Stale\""]
    }
}

extension HTTPField.Name {
    /// The literals are tokens of RFC 9110, so they have names.
    fileprivate static let warning = HTTPField.Name("Warning")!
}
