internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import NIOCore

extension Response {
    /// A JSON answer with a resource of openapi.yaml.
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) -> Response {
        json(bytes: JSONWriter.text(value), status: status, headers: headers)
    }

    /// A JSON answer with its `ETag`.
    static func json(_ versioned: Versioned<some Encodable>, status: HTTPResponse.Status = .ok) -> Response {
        json(versioned.value, status: status, headers: .version(versioned.version))
    }

    /// A JSON answer that was written before.
    static func json(bytes: [UInt8], status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static var noContent: Response { Response(status: .noContent) }
}
