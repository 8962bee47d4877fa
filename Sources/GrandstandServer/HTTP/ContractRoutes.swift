internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// `/openapi.yaml`: the contract of this server, without authentication.
struct ContractRoutes: Sendable {
    /// All answers share these bytes, so answers to slow clients need no copy.
    private static let text = ByteBuffer(string: EmbeddedFiles.texts["openapi.yaml"] ?? "")

    var routes: [Route] {
        [
            Route(.contract) { _, _ in
                Response(
                    status: .ok, headers: [.contentType: "application/yaml", .cacheControl: "public, max-age=300"],
                    body: ResponseBody(byteBuffer: Self.text))
            }
        ]
    }
}
