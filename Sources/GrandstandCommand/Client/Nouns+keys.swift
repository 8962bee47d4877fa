internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandServer
internal import JSON

/// API keys: `key` uses a running server. `keys` uses its database on the server's machine, so that the first key can be
/// created, and has the same inputs.
extension Noun {
    static let key = Noun(
        "key", "API keys of a running server (`keys` works on its database).",
        [
            Verb(
                "create", .createKey, creation, only: "secret", as: scope, without: apps, body: Contract.KeyDraft.shape,
                [binding]),
            Verb("list", .listKeys, columns: columns),
            Verb("get", .getKey),
            Verb(
                "rotate", .rotateKey,
                "Replaces a key and prints the new secret once; standard output has nothing else.", only: "secret",
                as: ["overlapSeconds": "overlap"], body: Contract.RotationDraft.shape),
            Verb("revoke", .revokeKey, "Revokes a key.", aliases: ["delete"]),
        ])

    static let keys = Noun(
        "keys", "API keys, directly in the server's database (`key` uses a running server).",
        [
            Verb(
                "create", .createKey, creation, only: "secret", as: scope, without: apps, body: Contract.KeyDraft.shape,
                [binding]
            ) { given in
                let draft = try given.keyDraft()
                try await withKeys { keys, now in
                    let issued = try await keys.create(draft, by: .commandLine, now: now)
                    try given.show(try JSONValue(parsing: JSONWriter.text(issued)))
                }
            },
            Verb("list", .listKeys, "Lists the keys; secrets are not stored.", columns: columns) { given in
                try await withKeys { keys, now in
                    var request = PageRequest(limit: given["limit"].flatMap(Int.init) ?? 200)
                    request.cursor = given["cursor"]
                    let page = try await keys.keys(within: .all, request, now: now)
                    try given.show(try JSONValue(parsing: JSONWriter.text(page), maximumValues: .max))
                }
            },
            Verb("revoke", .revokeKey, "Revokes a key.") { given in
                let text = given["id"] ?? ""
                guard let id = UUID(uuidString: text) else { throw ValidationError("\(text) is not a key's ID.") }
                try await withKeys { keys, now in
                    let isDisabling = given.has("disable-webhooks")
                    guard try await keys.revoke(id, disablingWebhooks: isDisabling, by: .commandLine, now: now) else {
                        throw StartError(
                            "there is no key \(id.uuidString.lowercased()), or it is already revoked"
                                + (isDisabling ? ", and no enabled webhook that it declared" : ""))
                    }
                }
            },
        ])

    private static let creation = "Creates a key and prints its secret once; standard output has nothing else."
    private static let scope = ["scopes": "scope"]
    private static let columns = "id name scopes bundleIds eventKeyPrefix prefix state expiresAt lastUsedAt"
    private static let apps: Set = ["bundleId", "bundleIds"]
    private static let binding = Input.apps(
        "The bundle ID of an app that the key is for. Without it: all apps.")
}

extension Invocation {
    /// The key that `keys create` declares. Its members are checked as those of a request.
    ///
    /// - Throws: `ValidationError`.
    fileprivate func keyDraft() throws -> Contract.KeyDraft {
        var draft = Draft()
        try apply(to: &draft)
        do throws(Problem) {
            return try Contract.KeyDraft.read(try JSONValue(parsing: draft.bytes))
        } catch {
            throw ValidationError(error.errors.map { "\($0.pointer): \($0.detail)" }.joined(separator: " "))
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
        Terminal.say(
            "note: DATABASE_URL is unset and \(folder) had no database, so a new one is created there. A server with "
                + "another database does not know the keys in it: run this on that server's machine, or use "
                + "`grandstand key create` with an admin key.")
    }
    let session = try await DatabaseSession.open(
        configuration.database, sharing: true, logger: configuration.makeLogger())
    try await withCleanup({ await session.close() }) {
        do { try await body(session.keys, try await session.now()) } catch let problem as Problem {
            throw StartError(problem.detail)
        }
    }
}
