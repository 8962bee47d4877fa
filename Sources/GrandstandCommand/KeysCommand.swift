internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandApp

/// `grandstand keys`: API keys, on the database directly, so that there can be a first one.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "API keys.", subcommands: [Create.self, List.self, Revoke.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a key and prints its secret once, alone on standard output.")

        @Option(help: "What people know the key by.")
        var name: String

        @Option(help: "lookup, organise, operate or admin; may be repeated.")
        var scope: [APIKey.Scope]

        @Option(help: "The bundle ID of the one app the key is for; without it, all.")
        var app: String?

        func validate() throws {
            guard !scope.isEmpty else { throw ValidationError("Give at least one --scope.") }
            guard (1...200).contains(name.count) else { throw ValidationError("A name has 1 to 200 characters.") }
            if let app, BundleID(rawValue: app) == nil { throw ValidationError("--app \(app): \(BundleID.rule)") }
        }

        func run() async throws {
            try await withKeys { keys in
                let (_, secret) = try await keys.create(
                    name: name, scopes: Set(scope), bundleID: app.flatMap(BundleID.init), by: .commandLine)
                print(secret)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the keys; secrets are not kept.")

        func run() async throws {
            try await withKeys { keys in
                for key in try await keys.keys() {
                    let scopes = key.scopes.map(\.rawValue).sorted().joined(separator: ",")
                    let state = key.revokedAt == nil ? "active" : "revoked"
                    print(
                        [
                            key.id.uuidString.lowercased(), key.prefix + "…", state, scopes,
                            key.bundleID?.rawValue ?? "all apps", key.name,
                        ].joined(separator: "  "))
                }
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Ends a key.")

        @Argument(help: "The key's ID, as `keys list` shows it.")
        var id: String

        func run() async throws {
            guard let id = UUID(uuidString: id) else { throw ValidationError("\(id) is not a key's ID.") }
            try await withKeys { keys in
                guard try await keys.revoke(id, by: .commandLine, now: Date()) else {
                    throw StartError("there is no key \(id.uuidString.lowercased()) that could be revoked")
                }
            }
        }
    }
}

extension APIKey.Scope: ExpressibleByArgument {}

/// Opens the database the settings name, for the time of `body`.
private func withKeys(_ body: (any KeyStore) async throws -> Void) async throws {
    let configuration = try Configuration(environment: ProcessInfo.processInfo.environment)
    let session = try await DatabaseSession.open(configuration.database, logger: configuration.makeLogger())
    do {
        try await body(session.keys)
        await session.close()
    } catch let problem as Problem {
        await session.close()
        throw StartError(problem.detail)
    } catch {
        await session.close()
        throw error
    }
}
