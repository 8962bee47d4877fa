internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// The answer to a successful lookup. `LookupRoutes` sends it as `response`; `LookupHandler` writes it directly to the
/// connection.
struct LookupResponse {
    let status: HTTPResponse.Status
    /// The lookup's own header fields; `StandingHeaders` adds the others.
    var headers: HTTPFields
    /// The body of the answer; empty for 304.
    let body: [UInt8]

    /// 200 with the entry, or 304 if the caller already has the entry.
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
    /// The capacity for header fields, with room for the fields that are added later.
    private static let fieldCapacity = 16

    /// The answer in Hummingbird's type, for routes.
    var response: Response {
        Response(
            status: status, headers: headers,
            body: body.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    /// More bytes than the status line and all header fields need.
    private static let headCapacity = 640

    /// Writes the answer in HTTP/1.1 format.
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
    /// The fields of a stale answer, which cannot be confirmed now: its age and a warning (RFC 9111, 5.1 and 5.5).
    var headers: HTTPFields {
        guard case .stale(let seconds) = self else { return [:] }
        return [.age: String(seconds), .warning: "110 - \"Response is Stale\""]
    }
}

extension HTTPField.Name {
    /// The force-unwrap is safe: the literal is a valid field name (RFC 9110).
    fileprivate static let warning = HTTPField.Name("Warning")!
}
