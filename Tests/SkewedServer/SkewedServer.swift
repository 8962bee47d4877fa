internal import Foundation
internal import GrandstandServer
internal import UnixSignals

/// `grandstand serve` with a wrong clock, for tests that kill it: `SkewedServer SECONDS` is this many seconds ahead.
/// The delivered program has no such option.
@main
enum SkewedServer {
    static func main() async throws {
        guard let lead = CommandLine.arguments.dropFirst().first.flatMap({ TimeInterval($0) }) else {
            print("SkewedServer SECONDS")
            exit(2)
        }
        let configuration = try Configuration(environment: ProcessInfo.processInfo.environment)
        let server = try await Server.build(
            configuration, wallClock: { Date().addingTimeInterval(lead) }, logger: configuration.makeLogger())
        try await server.run(stoppingOn: [.sigterm])
    }
}
