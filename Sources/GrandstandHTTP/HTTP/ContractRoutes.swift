internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// `/openapi.yaml`: the contract of this server, without authentication.
struct ContractRoutes: Sendable {
    var routes: [Route] {
        [
            Route(.contract) { _, _ in
                Response(
                    status: .ok, headers: [.contentType: "application/yaml", .cacheControl: "public, max-age=300"],
                    body: ResponseBody(byteBuffer: ByteBuffer(bytes: PackageResources.openapi_yaml)))
            }
        ]
    }
}
