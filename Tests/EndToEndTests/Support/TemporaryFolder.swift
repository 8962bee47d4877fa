internal import Foundation

/// A folder that is gone with the test.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let place = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        path = place.appendingPathComponent("grandstand-e2e-\(UUID().uuidString.prefix(8))").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
