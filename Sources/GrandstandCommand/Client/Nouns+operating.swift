internal import ArgumentParser
internal import Grandstand
internal import GrandstandClient
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
                                + "no template.", use: preview("compact")),
                        .init(
                            .option, "preview-expanded", "The same with several lines; empty: no template.",
                            use: preview("expanded")),
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
                    try $0.show(try await $0.put(over: .getApp) { Draft($0, without: ofServer) })
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
                    [.init(.flag, "unmanaged", "Only channels that Apple has and the server does not know.", use: .own)]
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
        webhooks,
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
    private static func preview(_ name: String) -> Input.Use {
        .body { draft, texts in
            guard let text = texts.first else { return }
            var preview = draft["preview"].map { Draft($0) } ?? Draft()
            if text.isEmpty { preview.set(name, raw: Array("null".utf8)) } else { preview.set(name, text) }
            draft.set("preview", raw: preview.bytes)
        }
    }

    @Sendable private static func override(_ texts: [String], in draft: inout Draft) throws {
        guard !texts.isEmpty else { return }
        var environments = draft["environments"].map { Draft($0) } ?? Draft()
        for text in texts {
            let parts = try parts("--override", text, overrideForm)
            var one = Draft()
            if !parts[1].isEmpty { one.set("teamId", parts[1]) }
            if !parts[2].isEmpty { one.set("keyId", parts[2]) }
            environments.set(parts[0], raw: one.bytes)
        }
        draft.set("environments", raw: environments.bytes)
    }
}
