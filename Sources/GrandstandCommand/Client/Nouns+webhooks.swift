internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandContract
internal import GrandstandServer
internal import JSON

extension Noun {
    static let webhooks = Noun(
        "webhook", "Signed messages to your own servers.",
        [
            Verb(
                "create", .createWebhook,
                "Creates a webhook and prints its secret once; standard output has nothing else.", only: "secret",
                as: ["topics": "topic"], without: ["bundleId", "bundleIds", "enabled"],
                body: Contract.WebhookDraft.shape,
                [
                    .argument("url", "The URL to post messages to.", use: .text("url")),
                    .apps("Only messages about this app, by its bundle ID."),
                    .flag(
                        "disabled", "Create it disabled: nothing is posted yet.",
                        use: .body { if !$1.isEmpty { $0.set("enabled", raw: Array("false".utf8)) } }),
                ]
            ) {
                let answer = try await $0.client.answer(try $0.call())
                if !$0.client.json { Terminal.say("webhook \(answer?["id"]?.string ?? ""); its secret:") }
                try $0.show(answer)
            },
            Verb("list", .listWebhooks, "Lists webhooks.", columns: "id enabled topics url declaredBy reason"),
            Verb("get", .getWebhook),
            Verb(
                "change", .putWebhook, "Changes the given members of a webhook.",
                as: ["topics": "topic", "bundleId": "app"], without: ["bundleIds", "enabled"],
                body: Contract.WebhookDraft.shape, isChange: true,
                [.toggle("messages", "Whether messages are posted.", use: .literal("enabled"))]
            ) {
                let ofServer: Set = [
                    "id", "declaredBy", "reason", "failingSince", "previousSecretUntil", "createdAt", "updatedAt",
                ]
                try $0.show(try await $0.put(over: .getWebhook, mayCreate: false) { Draft($0, without: ofServer) })
            },
            Verb("delete", .deleteWebhook),
            Verb(
                "rotate", .rotateWebhookSecret,
                "Gives a webhook a new secret and prints it; the old one still signs for a while.", only: "secret",
                as: ["overlapSeconds": "overlap"], body: Contract.WebhookRotation.shape),
            Verb(
                "test", .testWebhook,
                "Posts a test message and prints the result; exits 1 unless the receiver accepted it."
            ) {
                let queued = try await $0.client.answer(try $0.call())
                try await $0.watch(queued?["id"]?.string ?? "", since: 0)
            },
            Verb(
                "deliveries", .listWebhookDeliveries, "Lists the posted messages, the newest first.",
                columns: "id topic state attempts status createdAt reason"),
            Verb("delivery", .getWebhookDelivery),
            Verb(
                "replay", .replayWebhookDelivery,
                "Posts a message again and prints the result; exits 1 unless the receiver accepted it."
            ) {
                let present = try await $0.client.answer(try $0.call(.getWebhookDelivery))
                _ = try await $0.client.answer(try $0.call())
                try await $0.watch($0["delivery"] ?? "", since: present?["log"]?.elements?.count ?? 0)
            },
        ])
}

extension Input {
    /// The apps of a new key or webhook: one is `bundleId`, several are `bundleIds`.
    static func apps(_ help: String) -> Input {
        options(
            "app", help,
            use: .body { draft, apps in
                if apps.count == 1 { draft.set("bundleId", apps[0]) } else { draft.set("bundleIds", texts: apps) }
            })
    }
}

extension Invocation {
    /// Waits until a delivery of the webhook has more than `tries` attempts, for half a minute at most, and prints the
    /// result.
    fileprivate func watch(_ delivery: String, since tries: Int) async throws {
        for _ in 0..<150 {
            let answer = try await client.answer(.getWebhookDelivery(delivery, of: self["id"] ?? ""))
            let isTried = (answer?["log"]?.elements?.count ?? 0) > tries
            switch answer?["state"]?.string {
            case "delivered" where isTried:
                if client.json { return try client.show(answer) }
                return print("accepted")
            case "cancelled",
                .some where isTried:
                throw StartError("not accepted: \(answer?["reason"]?.string ?? "the webhook was deleted")")
            default: try await Task.sleep(for: .milliseconds(200))
            }
        }
        throw StartError("not tried yet; `grandstand webhook deliveries` will show the result")
    }
}
