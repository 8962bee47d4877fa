internal import Foundation
internal import GrandstandClient
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
                    .init(.argument, "url", "The URL to post messages to.", use: .text("url")),
                    .apps("Only messages about this app, by its bundle ID."),
                ]
            ) {
                let answer = try await $0.client.answer(try $0.call())
                if !$0.client.json { Terminal.say("webhook \(answer?["id"]?.string ?? ""); its secret:") }
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
                let queued = try await given.client.answer(try given.call())?["id"]?.string ?? ""
                let tried = try await given.client.poll(.getWebhookDelivery(queued, of: given["id"] ?? "")) {
                    ("\($0.state)", $0.state == .cancelled || !$0.log.isEmpty, nil)
                }
                guard tried?["state"]?.string == "delivered" else {
                    throw StartError("not accepted: \(tried?["reason"]?.string ?? "the webhook was deleted")")
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
                if apps.count == 1 { draft.set("bundleId", apps[0]) } else { draft.set("bundleIds", list: apps) }
            })
    }
}
