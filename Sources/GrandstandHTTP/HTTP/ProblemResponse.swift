internal import APNsWire
package import Grandstand
internal import GrandstandService
internal import HTTPTypes
internal import Hummingbird
package import JSON

extension Problem: JSONWritable {
    package func write(to json: inout JSONWriter) { write(to: &json, requestID: nil) }

    /// Writes the members of RFC 9457 first, then those of this problem.
    func write(to json: inout JSONWriter, requestID: String?) {
        json.object { object in
            object.member("type", Self.typeBase + kind.rawValue)
            object.member("title", kind.title)
            object.member("status", status)
            object.member("detail", detail)
            if let requestID { object.member("requestId", requestID) }
            if !errors.isEmpty { object.member("errors", errors) }
            if let apns { object.member("apns", apns) }
            for member in members {
                object.name(dynamic: member.name)
                switch member.value {
                case .integer(let value): object.integer(value)
                case .string(let value): object.string(value)
                case .strings(let values): object.array(values) { $0.string($1) }
                case .json(let text): object.raw(text)
                }
            }
        }
    }

    /// Never change this: clients compare the whole `type`, or its last part.
    private static let typeBase = "https://grandstand.dev/problems/"

    func response(requestID: String) -> Response {
        var writer = JSONWriter()
        write(to: &writer, requestID: requestID)
        var headers: HTTPFields = [.contentType: "application/problem+json"]
        if let maxAge { headers[.cacheControl] = "public, max-age=\(maxAge)" }
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        if let age { headers.append(contentsOf: LookupReplica.Freshness.stale(seconds: age).headers) }
        if kind == .unauthenticated { headers[.wwwAuthenticate] = "Bearer" }
        return Response(
            status: .init(code: status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: writer.bytes)))
    }
}

extension FieldError: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("pointer", pointer)
        object.member("detail", detail)
    }
}

extension APNsRefusal: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("status", status)
        object.member("reason", reason.text)
        object.member("requestId", requestID)
    }
}
