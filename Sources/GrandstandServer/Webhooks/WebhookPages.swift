internal import Grandstand
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
                columns: [.link("url"), "description", "topics", .apps, isOn, "failingSince"])
        },
        detail: Detail(
            operation: .getWebhook, title: { webhook, _ in "Webhook \(webhook.text("url"))" }, refresh: 10,
            facts: [
                isOn, "failingSince", "topics", .apps,
                Field("previousSecretUntil", as: "Signed with the old secret, too, until"),
                Field("updatedAt", as: "Changed"),
            ],
            below: [
                Listing(
                    operation: .listWebhookDeliveries, heading: "Newest messages",
                    caption: "Messages of this webhook, the newest first", nothing: "No message fits.",
                    filter: ["state"],
                    columns: [
                        .link("createdAt", as: "Written", to: "/webhooks/:id/deliveries/:delivery"), "topic", "state",
                        .number("attempts", as: "Tries"), .answer("Last answer"),
                        Field("nextAttemptAt", as: "Next try"), Field("settledAt", as: "Settled"),
                    ])
            ]),
        actions: [
            Action(
                path: "", operation: .createWebhook, label: "Make the webhook",
                secret: purpose, notice: { webhook, _ in "The webhook to \(webhook.text("url"))" }),
            Action(
                path: "/:id/pause", operation: .putWebhook, label: "Pause",
                fixed: "enabled=false", isOffered: { $0.object?.flag("enabled") == true },
                notice: { _, _ in "The webhook is disabled. No new messages are queued; queued ones wait." }),
            Action(
                path: "/:id/resume", operation: .putWebhook, label: "Resume",
                fixed: "enabled=true", isOffered: { $0.object?.flag("enabled") == false },
                notice: { _, _ in "The webhook is enabled. Waiting messages are sent now." }),
            Action(
                path: "/:id/test", operation: .testWebhook, label: "Post a test message",
                notice: { _, _ in "A message webhook.test is on its way." }),
            Action(
                path: "/:id", operation: .putWebhook, label: "Change the webhook",
                notice: { _, _ in "The webhook was changed." }),
            Action(
                path: "/:id/secret", operation: .rotateWebhookSecret, label: "Make another secret",
                isIrreversible: true,
                secret: purpose,
                notice: { webhook, _ in "The webhook to \(webhook.text("url")), with a new secret" }),
            Action(
                path: "/:id/delete", operation: .deleteWebhook, label: "Delete the webhook",
                words: [
                    "The webhook, its log and what is queued for it are gone then. To stop it for a while, pause it."
                ], isIrreversible: true, notice: { _, _ in "The webhook and its log are gone." }),
        ])

    /// Whether a webhook is on, or paused with the server's reason.
    static let isOn = Field("State") { webhook, _ in
        webhook.flag("enabled")
            ? [.level(level: "ok", text: "on")]
            : [.level(level: "warning", text: "paused"), .quoted(webhook.text("reason"))]
    }

    private static let purpose = "The receiver checks each message's signature with it."

    /// `/console/webhooks/{id}/deliveries/{delivery}`
    static let webhookDeliveries = Resource(
        path: "/webhooks/:id/deliveries", links: ["The webhook": "/webhooks/:id"],
        detail: Detail(
            operation: .getWebhookDelivery, path: "/:delivery",
            title: { message, _ in "Message \(message.text("topic"))" },
            facts: [
                "state", Field("messageId", as: "Message"), Field("createdAt", as: "Written"),
                Field("nextAttemptAt", as: "Next try", else: "none"),
            ],
            below: [
                Listing(
                    member: "log", heading: "Tries", caption: "Each try, the oldest first",
                    nothing: "None yet.",
                    columns: [
                        Field("attempt", as: "Try"), "at", .number("milliseconds", as: "Took (ms)"), .answer("Answer"),
                    ]),
                Listing(
                    member: "message", heading: "What is posted"),
            ]),
        actions: [
            Action(
                path: "/:delivery/replay", operation: .replayWebhookDelivery, label: "Post it again",
                notice: { _, _ in "The message is sent again, with all retries." })
        ])
}

extension Field {
    /// The receiver's answer: `503 slow down`
    fileprivate static func answer(_ label: String) -> Field {
        Field(label) { message, _ in
            let status = message["status"]?.integer.map(String.init)
            return [.quoted([status, message["reason"]?.string].compactMap(\.self).joined(separator: " "))]
        }
    }
}
