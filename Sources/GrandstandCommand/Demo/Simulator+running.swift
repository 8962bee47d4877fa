internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Logging

extension Simulator {
    /// Runs a simulator while `body` runs. Its journal is large enough for a whole match day.
    ///
    /// - Parameters:
    ///   - folder: the folder of its keys and its certificate authority.
    ///   - options: changes its options before the start.
    static func running<Value>(
        in folder: String, logger: Logger, options change: (inout SimulatorOptions) -> Void = { _ in },
        isolation: isolated (any Actor)? = #isolation,
        _ body: (Simulator, SimulatorAddresses) async throws -> Value
    ) async throws -> Value {
        var options = SimulatorOptions(directory: folder)
        options.journalCapacity = 1_000_000
        change(&options)
        let simulator = Simulator(options: options, logger: logger)
        let addresses = try await simulator.start()
        return try await withCleanup({ await simulator.stop() }) { try await body(simulator, addresses) }
    }
}

extension SimulatorAddresses {
    /// The settings of a server that uses this simulator.
    var settings: [String: String] {
        var settings = [
            "GRANDSTAND_PORT": "0", "GRANDSTAND_APNS_CA_FILE": caFile,
            "GRANDSTAND_APNS_KEY_DIR": URL(filePath: keyFile).deletingLastPathComponent().path,
        ]
        for (name, environment) in [("DEVELOPMENT", APNsEnvironment.development), ("PRODUCTION", .production)] {
            settings["GRANDSTAND_APNS_\(name)_SEND_URL"] = url(environment)
            settings["GRANDSTAND_APNS_\(name)_MANAGE_URL"] = url(environment)
        }
        return settings
    }
}

/// Runs `body` and then `cleanUp`, even if `body` throws.
func withCleanup<Value>(
    _ cleanUp: () async -> Void, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
) async throws -> Value {
    do {
        let value = try await body()
        await cleanUp()
        return value
    } catch {
        await cleanUp()
        throw error
    }
}

/// Gives `body` a new temporary folder, and removes it afterwards even if `body` throws.
///
/// - Parameter name: the beginning of the folder's name.
func withTemporaryFolder<Value>(
    _ name: String, isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> Value
) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        .appending(path: "\(name)-\(UUID().uuidString.prefix(8))").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}
