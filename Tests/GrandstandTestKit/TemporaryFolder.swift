internal import Foundation

/// A folder that is gone with the test.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        let place = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        path = place.appendingPathComponent("grandstand-\(UUID().uuidString.prefix(8))").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package func file(_ name: String) -> String { "\(path)/\(name)" }

    package func text(_ name: String) throws -> String { try String(contentsOfFile: file(name), encoding: .utf8) }

    package func write(_ text: String, to name: String) throws {
        try text.write(toFile: file(name), atomically: true, encoding: .utf8)
    }
}
