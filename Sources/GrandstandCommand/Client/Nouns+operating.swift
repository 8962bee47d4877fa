internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandServer
internal import JSON

extension Noun {
    static let operating: [Noun] = [
        Noun(
            "app", "Apps of a running server.",
            [
                Verb("list", .listApps, columns: "bundleId name teamId keyId channelLimit credentials"),
                Verb("get", .getApp),
                Verb(
                    "put", .putApp, "Registers an app, or changes the given members.",
                    as: ["teamId": "team", "keyId": "key", "channelLimit": "limit"],
                    without: ["environments", "preview"], body: Contract.AppDraft.shape, isChange: true,
                    [
                        .init(
                            .option, "preview-compact",
                            "How the console shows a contentState: one line of Mustache, '{{home}} – {{away}}'; empty: "
                                + "no template.", use: previewTemplate("compact")),
                        .init(
                            .option, "preview-expanded", "The same with several lines; empty: no template.",
                            use: previewTemplate("expanded")),
                        .init(
                            .options, "override",
                            "Another team or key in one environment, ENVIRONMENT:TEAM:KEY; an empty part means the "
                                + "app's own value.", use: .body { try override($1, in: &$0) }
                        ) { _ = try parts("--override", $0, overrideForm) },
                    ]
                ) {
                    let ofServer: Set = [
                        "bundleId", "topic", "credentials", "credentialRefusals", "quirks", "createdAt", "updatedAt",
                    ]
                    try $0.show(try await $0.putMerged(over: .getApp) { JSONDraft($0, without: ofServer) })
                },
                Verb("delete", .deleteApp),
            ]),
        Noun(
            "channel", "Channels of an app in an environment.",
            [
                Verb(
                    "list", .listChannels, "Lists channels.",
                    columns: "id channelId storagePolicy state eventKey variant label", as: ["eventKey": "event"],
                    without: ["managed"],
                    [
                        .init(
                            .flag, "unmanaged", "Only channels that Apple has and the server does not know.",
                            use: .verb)
                    ]
                ) { try await $0.callAndShow(with: $0.has("unmanaged") ? ["managed": "false"] : [:]) },
                Verb("get", .getChannel, "Shows a channel."),
                Verb("create", .createChannel, body: Contract.ChannelDraft.shape),
                Verb(
                    "import", .importChannel, as: ["eventKey": "event"], body: Contract.ChannelImport.shape,
                    [.init(.argument, "channel-id", "Apple's ID of the channel.", use: .text("channelId"))]),
                Verb("delete", .deleteChannel),
            ]),
        Noun(
            "quota", "How much of each app's channel limit is used, now and in the past.", hasDefault: true,
            [
                Verb(
                    "list", .listQuotas,
                    columns: "bundleId environment level limit used reserved available unmanaged missing forecast.peak "
                        + "alarm keyRefused.reason throttled.since throttled.lanesWaiting"),
                Verb(
                    "history", .listQuotaHistory,
                    columns: "at bundleId environment used reserved peak limit created deleted",
                    as: ["bundleId": "app"]),
            ]),
        Noun(
            [
                Verb(
                    "reconcile", .reconcile, "Compares Apple's list of channels with the ledger.",
                    discussion: "Without --apply it only reports.", body: Contract.ReconciliationDraft.shape)
            ]),
        webhook,
        Noun(
            [
                Verb(
                    "audit", .listAuditLog, "The audit log: who did what, the newest first.",
                    columns: "at actor action bundleId environment eventKey channelId reason",
                    as: ["bundleId": "app"])
            ]),
        Noun(
            "server", "The state of a running server; needs no key.",
            [
                Verb("ready", .readiness, "Shows whether the server can work; exits 1 if it cannot.") {
                    let answer = try await ServerAccess().answer(to: .readiness())
                    try $0.show(try JSONValue(parsing: Array(answer.body)))
                    if answer.status != 200 { throw ExitCode.failure }
                }
            ]),
        lookup,
    ]

    private static let overrideForm = "ENVIRONMENT:TEAM:KEY"

    /// A template of an app's preview. An empty text removes it.
    private static func previewTemplate(_ name: String) -> Input.Use {
        .body { draft, texts in
            guard let text = texts.first else { return }
            var preview = draft.value("preview").map { JSONDraft($0) } ?? JSONDraft()
            preview[name] = text.isEmpty ? Array("null".utf8) : JSONWriter.text(text)
            draft["preview"] = preview.text
        }
    }

    @Sendable private static func override(_ texts: [String], in draft: inout JSONDraft) throws {
        guard !texts.isEmpty else { return }
        var environments = draft.value("environments").map { JSONDraft($0) } ?? JSONDraft()
        for text in texts {
            let parts = try parts("--override", text, overrideForm)
            var one = JSONDraft()
            for (name, part) in zip(["teamId", "keyId"], parts.dropFirst()) where !part.isEmpty { one.set(name, part) }
            environments[parts[0]] = one.text
        }
        draft["environments"] = environments.text
    }
}

extension Noun {
    static let webhook = Noun(
        "webhook", "Signed messages to your own servers.",
        [
            Verb(
                "create", .createWebhook,
                "Creates a webhook and prints its secret once; standard output has nothing else.", only: "secret",
                as: ["topics": "topic"], without: ["bundleId", "bundleIds", "enabled"],
                body: Contract.WebhookDraft.shape,
                [
                    .init(.argument, "url", "The URL to post messages to.", use: .text("url")),
                    .apps("Only messages about this app, by its bundle ID."),
                ]
            ) {
                let answer = try await $0.client.answer(try $0.makeCall())
                if !$0.client.json { Terminal.note("webhook \(answer?["id"]?.string ?? ""); its secret:") }
                try $0.show(answer)
            },
            Verb("list", .listWebhooks, "Lists webhooks.", columns: "id enabled topics url declaredBy reason"),
            Verb("get", .getWebhook),
            Verb("delete", .deleteWebhook),
            Verb(
                "rotate", .rotateWebhookSecret,
                "Gives a webhook a new secret and prints it; the old one still signs for a while.", only: "secret",
                as: ["overlapSeconds": "overlap"], body: Contract.WebhookRotation.shape),
            Verb(
                "test", .testWebhook,
                "Posts a test message and prints the result; exits 1 unless the receiver accepted it."
            ) { given in
                let queued = try await given.client.answer(try given.makeCall())?["id"]?.string ?? ""
                let tried = try await given.client.poll(.getWebhookDelivery(queued, of: given["id"] ?? "")) {
                    ("\($0.state)", $0.state == .cancelled || !$0.log.isEmpty, nil)
                }
                guard tried?["state"]?.string == "delivered" else {
                    throw ExitError("not accepted: \(tried?["reason"]?.string ?? "the webhook was deleted")")
                }
                if given.client.json { try given.show(tried) } else { print("accepted") }
            },
            Verb(
                "deliveries", .listWebhookDeliveries, "Lists the posted messages, the newest first.",
                columns: "id topic state attempts status createdAt reason"),
            Verb("delivery", .getWebhookDelivery),
            Verb("replay", .replayWebhookDelivery, "Posts a message again."),
        ])
}

extension Input {
    /// The apps of a new key or webhook: one is `bundleId`, several are `bundleIds`.
    static func apps(_ help: String) -> Input {
        Input(
            .options, "app", help,
            use: .body { draft, apps in
                if apps.count == 1 { draft.set("bundleId", apps[0]) }
                if apps.count > 1 { draft["bundleIds"] = JSONWriter.text(apps) }
            })
    }
}

extension Noun {
    /// The call that an app makes before it starts an activity.
    static let lookup = Noun(
        [
            Verb(
                "lookup", .lookup, "The channel of an event, as apps look it up.",
                discussion: "If the channel is being created, it waits.",
                [
                    .init(
                        .integer, "patience",
                        "Seconds to wait for the channel while it is being created; 0: do not wait. Without it: 30.",
                        use: .verb)
                ]
            ) { given in
                let app = GrandstandClient.AppEnvironment(
                    given["bundle-id"] ?? "", .init(rawValue: given["environment"] ?? ""))
                // This call only waits. The next one shows the answer, or why there is none.
                _ = try? await ServerAccess().client.lookup(
                    given["key"] ?? "", in: app, variant: given["variant"],
                    patience: given["patience"].flatMap(Double.init) ?? 30)
                try await given.callAndShow()
            }
        ])
}

/// API keys: `key` uses a running server. `keys` uses its database on the server's machine, so that the first key can be
/// created, and has the same inputs.
extension Noun {
    static let key = Noun(
        "key", "API keys of a running server (`keys` works on its database).",
        [
            createVerb { try await $0.callAndShow() },
            Verb("list", .listKeys, columns: keyColumns),
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
            createVerb { given in
                let draft = try given.keyDraft()
                try await withKeys { keys in
                    let issued = try await keys.create(draft, by: .commandLine)
                    try given.show(try JSONValue(parsing: JSONWriter.text(issued)))
                }
            },
            Verb("list", .listKeys, "Lists the keys; secrets are not stored.", columns: keyColumns) { given in
                try await withKeys { keys in
                    var request = PageRequest(limit: given["limit"].flatMap(Int.init) ?? 200)
                    request.cursor = given["cursor"]
                    let page = try await keys.keys(within: .all, request)
                    try given.show(try JSONValue(parsing: JSONWriter.text(page), maximumValues: .max))
                }
            },
            Verb("revoke", .revokeKey, "Revokes a key.") { given in
                let text = given["id"] ?? ""
                guard let id = UUID(uuidString: text) else { throw ValidationError("\(text) is not a key's ID.") }
                try await withKeys { keys in
                    let isDisabling = given.has("disable-webhooks")
                    guard try await keys.revoke(id, disablingWebhooks: isDisabling, by: .commandLine) else {
                        throw ExitError(
                            "there is no key \(id.uuidString.lowercased()), or it is already revoked"
                                + (isDisabling ? ", and no enabled webhook that it declared" : ""))
                    }
                }
            },
        ])

    private static let keyColumns = "id name scopes bundleIds eventKeyPrefix prefix state expiresAt lastUsedAt"

    private static func createVerb(run: @escaping @Sendable (Invocation) async throws -> Void) -> Verb {
        Verb(
            "create", .createKey, "Creates a key and prints its secret once; standard output has nothing else.",
            only: "secret", as: ["scopes": "scope"], without: ["bundleId", "bundleIds"], body: Contract.KeyDraft.shape,
            [.apps("The bundle ID of an app that the key is for. Without it: all apps.")], run: run)
    }
}

extension Invocation {
    /// The key that `keys create` declares. Its members are checked as those of a request.
    ///
    /// - Throws: `ValidationError`.
    fileprivate func keyDraft() throws -> Contract.KeyDraft {
        var draft = JSONDraft()
        try apply(to: &draft)
        do throws(Problem) {
            return try Contract.KeyDraft(body: try JSONValue(parsing: draft.text), now: Date())
        } catch {
            throw ValidationError(error.errors.map { "\($0.pointer): \($0.detail)" }.joined(separator: " "))
        }
    }
}

/// Opens the database of the settings while `body` runs. A server may be running on the same database.
private func withKeys(_ body: (KeyStore) async throws -> Void) async throws {
    let configuration = try Configuration(environment: ProcessInfo.processInfo.environment)
    // A first key may be created before the first start. A server with another database would not know the key, so a
    // note says that a new database is created here.
    if case .embedded(let folder) = configuration.database,
        !FileManager.default.fileExists(atPath: folder + "/postgres/PG_VERSION")
    {
        Terminal.note(
            "note: DATABASE_URL is unset and \(folder) had no database, so a new one is created there. A server with "
                + "another database does not know the keys in it: run this on that server's machine, or use "
                + "`grandstand key create` with an admin key.")
    }
    let session = try await DatabaseSession.connect(
        configuration.database, sharing: true, logger: configuration.makeLogger())
    try await withCleanup({ await session.close() }) {
        do { try await body(try await session.prepared().keyStore()) } catch let problem as Problem {
            throw ExitError(problem.detail)
        }
    }
}
