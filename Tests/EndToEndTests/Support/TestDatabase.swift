/// Where a server under test keeps its data.
enum TestDatabase {
    /// Gives `body` the settings of an empty database of its own.
    static func with(
        in folder: TemporaryFolder, _ body: @Sendable ([String: String]) async throws -> Void
    ) async throws {
        try await body(["GRANDSTAND_DATA_DIR": folder.path + "/data"])
    }
}
