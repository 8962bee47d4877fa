internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// `/openapi.yaml`: the contract of this server, without authentication.
extension API {
    /// All answers share these bytes, so answers to slow clients need no copy.
    private static let contract = ByteBuffer(string: ContractText.yaml)

    var contractRoutes: [Route] {
        [
            Route(.contract) { _, _ in
                Response(
                    status: .ok, headers: [.contentType: "application/yaml", .cacheControl: "public, max-age=300"],
                    body: ResponseBody(byteBuffer: Self.contract))
            }
        ]
    }
}
