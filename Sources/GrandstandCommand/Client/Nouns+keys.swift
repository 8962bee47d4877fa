internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandContract
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
            Verb(
                "list", .listKeys,
                columns: "id name scopes bundleIds eventKeyPrefix prefix state expiresAt lastUsedAt"),
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
                "create", .createKey, creation, only: "secret", as: scope, without: apps.union(["expiresAt"]),
                body: Contract.KeyDraft.shape,
                [binding, .integer("expires-in", "Seconds until the key expires. Without it: never.", use: .own)]
            ) { given in
                try await withKeys { keys, now in
                    let issued = try await keys.create(try given.keyDraft(now: now), by: .commandLine, now: now)
                    try given.show(try JSONValue(parsing: JSONWriter.text(issued)))
                }
            }.checked { given in
                if let text = given["expires-in"], (Int(text) ?? 0) < 1 {
                    throw ValidationError("--expires-in is a number of seconds from 1.")
                }
                do {
                    _ = try given.keyDraft(now: Date())
                } catch let problem as Problem {
                    let faults = problem.errors.map { "\($0.pointer): \($0.detail)" }
                    throw ValidationError(faults.isEmpty ? problem.detail : faults.joined(separator: " "))
                }
            },
            Verb("list", .listKeys, "Lists the keys; secrets are not stored.", without: ["limit", "cursor"]) { given in
                try await withKeys { keys, now in
                    var request = PageRequest(limit: 200)
                    repeat {
                        let page = try await keys.keys(within: .all, request, now: now)
                        if given.client.json {
                            try given.show(try JSONValue(parsing: JSONWriter.text(page), maximumValues: .max))
                        } else {
                            for key in page.items { print(line(key)) }
                        }
                        request.cursor = page.nextCursor
                    } while request.cursor != nil
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
    private static let apps: Set = ["bundleId", "bundleIds"]
    private static let binding = Input.apps(
        "The bundle ID of an app that the key is for. Without it: all apps.")

    private static func line(_ key: Contract.Key) -> String {
        [
            key.id, key.prefix + "…", key.state.rawValue,
            key.scopes.map(\.rawValue).sorted().joined(separator: ","), key.reach.text,
            "used \(key.lastUsedAt.map(RFC3339.text) ?? "never")",
            "expires \(key.expiresAt.map(RFC3339.text) ?? "never")", key.name.escapingControls,
        ].joined(separator: "  ")
    }
}

extension Invocation {
    /// The key that `keys create` declares. Its members are checked as those of a request.
    fileprivate func keyDraft(now: Date) throws -> Contract.KeyDraft {
        var draft = Draft()
        try apply(to: &draft)
        var key = try Contract.KeyDraft.read(try JSONValue(parsing: draft.bytes))
        key.expiresAt = self["expires-in"].flatMap(Double.init).map(now.addingTimeInterval)
        return key
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
    do {
        try await body(session.keys, try await session.now())
        await session.close()
    } catch {
        await session.close()
        throw (error as? Problem).map { StartError($0.detail) } ?? error
    }
}
