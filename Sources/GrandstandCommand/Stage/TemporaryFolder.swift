internal import Foundation

/// Gives `body` a folder of this process's own, and removes it afterwards, whatever comes of it.
///
/// - Parameter name: what its name begins with.
func withTemporaryFolder<Value>(
    _ name: String, isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> Value
) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(name)-\(getpid())").path
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}
