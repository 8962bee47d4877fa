internal import Foundation

/// `grandstand serve` as a process of its own, to be killed in mid-flight.
typealias ServerProcess = ChildProcess

extension ServerProcess {
    /// Starts a server that was built with these tests; returns once it listens.
    ///
    /// - Parameter wallLead: seconds by which the clock of its machine is ahead.
    static func start(
        _ environment: [String: String], keepsLog: Bool = false, wallLead: Int = 0
    ) async throws -> ServerProcess {
        let program = Bundle.main.bundleURL.appending(path: wallLead == 0 ? "grandstand" : "SkewedServer")
        return try await server(
            [program.path, wallLead == 0 ? "serve" : "\(wallLead)"], environment, keepsLog: keepsLog)
    }
}
