internal import Foundation
internal import GrandstandTestKit

extension Stage {
    /// Runs the program that was built with these tests, as a person does, against this server.
    func grandstand(_ arguments: String..., columns: Int? = nil) async throws -> Program.Output {
        var environment = ["GRANDSTAND_URL": url, "GRANDSTAND_API_KEY": api.secret ?? ""]
        environment["COLUMNS"] = columns.map { String($0) }
        return try await Program.run(
            Bundle.main.bundleURL.appending(path: "grandstand"), arguments, environment: environment)
    }
}
