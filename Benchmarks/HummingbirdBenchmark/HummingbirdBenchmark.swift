internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore

/// Hummingbird alone, for `Benchmarks/lookup.sh`: one route with three parameters, which answers the bytes of a file
/// with the header fields of our lookups. It checks no key and counts nothing.
///
///     HummingbirdBenchmark PORT FILE
@main
struct HummingbirdBenchmark {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let port = Int(arguments[1]) else {
            print("usage: HummingbirdBenchmark PORT FILE")
            exit(2)
        }
        let body = ByteBuffer(bytes: try Data(contentsOf: URL(fileURLWithPath: arguments[2])))
        let bodies = ["production": body]
        let headers: HTTPFields = [
            .contentType: "application/json", .eTag: "\"a1b2c3d4e5f60718\"", .cacheControl: "public, max-age=10",
            HTTPField.Name("X-Request-Id")!: "a", .xContentTypeOptions: "nosniff",
            .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
        ]
        let router = Router()
        router.get("/v1/lookup/{bundleId}/{environment}/{eventKey}") { _, context in
            guard try context.parameters.require("bundleId") != "", try context.parameters.require("eventKey") != "",
                let body = bodies[try context.parameters.require("environment")]
            else { throw HTTPError(.notFound) }
            return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
        }
        var logger = Logger(label: "hummingbird")
        logger.logLevel = .warning
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)), logger: logger)
        try await application.runService()
    }
}
