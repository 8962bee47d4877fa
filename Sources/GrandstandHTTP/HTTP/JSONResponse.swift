package import Grandstand
internal import HTTPTypes
internal import Hummingbird
package import JSON
internal import NIOCore

extension Response {
    /// A JSON answer.
    static func json(
        _ value: some JSONWritable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) -> Response {
        json(bytes: JSONWriter.text(value), status: status, headers: headers)
    }

    /// A JSON answer with its `ETag`.
    static func json(_ versioned: Versioned<some JSONWritable>, status: HTTPResponse.Status = .ok) -> Response {
        json(versioned.value, status: status, headers: .version(versioned.version))
    }

    static func json(bytes: [UInt8], status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static var noContent: Response { Response(status: .noContent) }
}

extension Page: JSONWritable, JSONObjectWritable where Item: JSONWritable {
    package func write(members object: inout JSONWriter) {
        object.member("items", items)
        object.member("nextCursor", nextCursor)
    }
}
