internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandServer
internal import JSON

/// `grandstand keys`: works on API keys directly in the database, so that the first key can be created. The command
/// runs on the server's machine.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "API keys, directly in the server's database (`key` uses a running server).",
        subcommands: [Create.self, List.self, Revoke.self, Rotate.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Creates a key and prints its secret once; standard output has nothing else.")

        @Option(help: "The name of the key, for people.")
        var name: String

        @Option(
            help: "lookup, device, organise, operate or admin; may be repeated. device needs --app.",
            completion: .list(Contract.Scope.allCases.map(\.rawValue)), transform: Self.scope)
        var scope: [Contract.Scope]

        @Option(help: "The bundle ID of an app that the key is for; may be repeated. Without it: all apps.")
        var app: [String] = []

        @Option(
            help: """
                The key is only for events whose event keys begin with this. API keys with another prefix cannot \
                declare such events. Only with --scope organise.
                """
        )
        var eventKeyPrefix: String?

        @Option(help: "Seconds until the key expires. Without it: never.")
        var expiresIn: Int?

        private static func scope(_ text: String) throws -> Contract.Scope {
            guard let scope = Contract.Scope.allCases.first(where: { $0.rawValue == text }) else {
                let words = Contract.Scope.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
                throw ValidationError("Please provide one of \(words).")
            }
            return scope
        }

        func validate() throws {
            if let expiresIn, expiresIn < 1 { throw ValidationError("--expires-in is a number of seconds from 1.") }
            guard !scope.isEmpty else { throw ValidationError("Give at least one --scope.") }
            guard (1...200).contains(name.count), name == name.escapingControls else {
                throw ValidationError("A name has 1 to 200 characters, and no control characters.")
            }
            for app in app where BundleID(rawValue: app) == nil {
                throw ValidationError("--app \(app): \(BundleID.rule)")
            }
            if let eventKeyPrefix, EventKey(rawValue: eventKeyPrefix) == nil {
                throw ValidationError("--event-key-prefix \(eventKeyPrefix): \(EventKey.rule)")
            }
        }

        func run() async throws {
            try await withKeys { keys, now in
                let draft = Contract.KeyDraft(
                    name: name, scopes: scope, bundleIds: app.isEmpty ? nil : app,
                    eventKeyPrefix: eventKeyPrefix,
                    expiresAt: expiresIn.map { now.addingTimeInterval(TimeInterval($0)) })
                print(try await keys.create(draft, by: .commandLine, now: now).secret ?? "")
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the keys; secrets are not stored.")

        func run() async throws {
            try await withKeys { keys, now in
                var request = PageRequest(limit: 200)
                repeat {
                    let page = try await keys.keys(within: .all, request, now: now)
                    for key in page.items { print(Self.line(key)) }
                    request.cursor = page.nextCursor
                } while request.cursor != nil
            }
        }

        private static func line(_ key: Contract.Key) -> String {
            [
                key.id, key.prefix + "…", key.state.rawValue,
                key.scopes.map(\.rawValue).sorted().joined(separator: ","), key.reach.text,
                "used \(key.lastUsedAt.map(RFC3339.text) ?? "never")",
                "expires \(key.expiresAt.map(RFC3339.text) ?? "never")", key.name.escapingControls,
            ].joined(separator: "  ")
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Revokes a key.")

        @Argument(help: "The key's ID, as `keys list` shows it.")
        var id: String

        @Flag(help: "Also disable the webhooks that the key declared, even if the key is already revoked.")
        var disableWebhooks = false

        func run() async throws {
            guard let id = UUID(uuidString: id) else { throw ValidationError("\(id) is not a key's ID.") }
            try await withKeys { keys, now in
                let isChanged = try await keys.revoke(
                    id, disablingWebhooks: disableWebhooks, by: .commandLine, now: now)
                guard isChanged else {
                    throw StartError(
                        "there is no key \(id.uuidString.lowercased()), or it is already revoked"
                            + (disableWebhooks ? ", and no enabled webhook that it declared" : ""))
                }
            }
        }
    }
}

extension KeysCommand {
    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replaces a key and prints the new secret once; standard output has nothing else.",
            discussion: "The old key stays valid for the overlap, so that callers can change to the new one.")

        @Argument(help: "The key's ID, as `keys list` shows it.")
        var id: String

        @Option(help: "Seconds for which the old key stays valid.")
        var overlap: Int = 86_400

        func validate() throws {
            guard (0...2_592_000).contains(overlap) else {
                throw ValidationError("--overlap is a number of seconds from 0 to 2592000.")
            }
        }

        func run() async throws {
            guard let id = UUID(uuidString: id) else { throw ValidationError("\(id) is not a key's ID.") }
            try await withKeys { keys, now in
                let overlapEnds = now.addingTimeInterval(TimeInterval(overlap))
                guard
                    let issued = try await keys.rotate(id, overlapEnds: overlapEnds, by: .commandLine, now: now)
                else {
                    throw StartError(
                        "the key \(id.uuidString.lowercased()) does not exist, is not active or was already replaced: "
                            + "`grandstand keys list` shows the keys"
                    )
                }
                print(issued.secret ?? "")
            }
        }
    }
}

/// Opens the database of the settings while `body` runs. `body` also gets the database's time. A server may be running
/// on the same database.
private func withKeys(_ body: (KeyStore, _ now: Date) async throws -> Void) async throws {
    let configuration = try Configuration(environment: ProcessInfo.processInfo.environment)
    // A first key may be created before the first start. A server with another database would not know the key, so a
    // note says that a new database is created here.
    if case .embedded(let folder) = configuration.database,
        !FileManager.default.fileExists(atPath: folder + "/postgres/PG_VERSION")
    {
        let note =
            "note: DATABASE_URL is unset and \(folder) had no database, so a new one is created there. A server with "
            + "another database does not know the keys in it: run this on that server's machine, or use "
            + "`grandstand key create` with an admin key.\n"
        FileHandle.standardError.write(Data(note.utf8))
    }
    let session = try await DatabaseSession.open(
        configuration.database, sharing: true, logger: configuration.makeLogger())
    do {
        try await body(session.keys, try await session.now())
        await session.close()
    } catch let problem as Problem {
        await session.close()
        throw StartError(problem.detail)
    } catch {
        await session.close()
        throw error
    }
}
