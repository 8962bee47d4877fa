internal import GrandstandContract
internal import JSON

extension Resource {
    /// `/console/webhooks`
    static let webhooks = Resource(
        path: "/webhooks", title: { _ in "Webhooks" },
        list: { _ in
            Listing(
                operation: .listWebhooks, caption: "Where messages are posted",
                nothing: "There is no webhook within your reach.",
                columns: [.link("url"), "description", "topics", .apps, status, "failingSince"])
        },
        detail: Detail(
            operation: .getWebhook, title: { webhook, _ in "Webhook \(webhook.text("url"))" },
            facts: [status, "failingSince", "topics", .apps, "previousSecretUntil", "updatedAt"],
            below: [
                Listing(
                    operation: .listWebhookDeliveries, heading: "Newest messages",
                    caption: "Messages of this webhook, the newest first", nothing: "No message fits.",
                    filter: ["state"],
                    columns: [
                        .link("id", to: "/webhooks/:id/deliveries/:delivery"), "createdAt", "topic", "state",
                        "attempts", "status", "reason", "nextAttemptAt", "settledAt",
                    ])
            ]),
        actions: [
            Action(
                path: "", operation: .createWebhook, label: "Make the webhook", secretUse: secretUse,
                notice: { webhook, _ in "The webhook to \(webhook.text("url"))" }),
            Action(
                path: "/:id/pause", operation: .putWebhook, label: "Pause", presets: "enabled=false",
                isOffered: { $0.object?.flag("enabled") == true },
                notice: { _, _ in "The webhook is disabled. No new messages are queued; queued ones wait." }),
            Action(
                path: "/:id/resume", operation: .putWebhook, label: "Resume", presets: "enabled=true",
                isOffered: { $0.object?.flag("enabled") == false },
                notice: { _, _ in "The webhook is enabled. Waiting messages are sent now." }),
            Action(
                path: "/:id/test", operation: .testWebhook, label: "Post a test message",
                notice: { _, _ in "A message webhook.test is on its way." }),
            Action(
                path: "/:id", operation: .putWebhook, label: "Change the webhook",
                notice: { _, _ in "The webhook was changed." }),
            Action(
                path: "/:id/secret", operation: .rotateWebhookSecret, label: "Make another secret",
                isIrreversible: true, secretUse: secretUse,
                notice: { webhook, _ in "The webhook to \(webhook.text("url")), with a new secret" }),
            Action(
                path: "/:id/delete", operation: .deleteWebhook, label: "Delete the webhook",
                words: [
                    "The webhook, its log and what is queued for it are gone then. To stop it for a while, pause it."
                ], isIrreversible: true, notice: { _, _ in "The webhook and its log are gone." }),
        ])

    /// Whether a webhook is on, or paused with the server's reason.
    static let status = Field("State") { webhook, _ in
        webhook.flag("enabled")
            ? [.level(level: "ok", text: "on")]
            : [.level(level: "warning", text: "paused"), .quoted(webhook.text("reason"))]
    }

    private static let secretUse = "The receiver checks each message's signature with it."

    /// `/console/webhooks/{id}/deliveries/{delivery}`
    static let webhookDeliveries = Resource(
        path: "/webhooks/:id/deliveries", links: ["The webhook": "/webhooks/:id"],
        detail: Detail(
            operation: .getWebhookDelivery, path: "/:delivery",
            title: { message, _ in "Message \(message.text("topic"))" },
            facts: ["state", "messageId", "createdAt", "nextAttemptAt"],
            below: [
                Listing(
                    member: "log", heading: "Tries", caption: "Each try", nothing: "None yet.",
                    columns: ["attempt", "at", "milliseconds", "status", "reason"]),
                Listing(member: "message", heading: "What is posted"),
            ]),
        actions: [
            Action(
                path: "/:delivery/replay", operation: .replayWebhookDelivery, label: "Post it again",
                notice: { _, _ in "The message is sent again, with all retries." })
        ])
}
