// Generated from openapi.yaml by `make contract`. Do not edit.

public import GrandstandContract

extension GrandstandClient.Call where Value == GrandstandClient.IssuedWebhook {
    /// Creates a webhook. Only the first answer has its secret.
    public static func createWebhook(_ draft: GrandstandClient.WebhookDraft) -> Self {
        Self(.createWebhook, "/v1/webhooks", body: draft)
    }

    /// Creates a webhook. Only the first answer has its secret. Takes the body as JSON, so that it may have members
    /// that this version does not know.
    public static func createWebhook(json: RawJSON) -> Self {
        Self(.createWebhook, "/v1/webhooks", body: json)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.WebhookPage {
    /// Lists the webhooks that the key can access, the oldest first.
    public static func listWebhooks(declaredBy: String? = nil) -> Self {
        Self(.listWebhooks, "/v1/webhooks", [("declaredBy", declaredBy)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Webhook {
    /// Shows a webhook.
    public static func getWebhook(_ id: String) -> Self {
        Self(.getWebhook, "/v1/webhooks/\(id)")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Webhook {
    /// Replaces the declaration of a webhook. Its secret stays.
    public static func putWebhook(_ id: String, _ draft: GrandstandClient.WebhookDraft) -> Self {
        Self(.putWebhook, "/v1/webhooks/\(id)", body: draft)
    }

    /// Replaces the declaration of a webhook. Its secret stays. Takes the body as JSON, so that it may have members
    /// that this version does not know.
    public static func putWebhook(_ id: String, json: RawJSON) -> Self {
        Self(.putWebhook, "/v1/webhooks/\(id)", body: json)
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Removes a webhook and its log.
    public static func deleteWebhook(_ id: String) -> Self {
        Self(.deleteWebhook, "/v1/webhooks/\(id)")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.IssuedWebhook {
    /// Creates a new secret. The old one signs, too, until the overlap is over.
    public static func rotateWebhookSecret(_ id: String, overlapSeconds: Int? = nil) -> Self {
        Self(
            .rotateWebhookSecret, "/v1/webhooks/\(id)/secret",
            body: Contract.WebhookRotation(overlapSeconds: overlapSeconds))
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.WebhookDelivery {
    /// Posts a message of type webhook.test.
    public static func testWebhook(_ id: String) -> Self {
        Self(.testWebhook, "/v1/webhooks/\(id)/test")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.WebhookDeliveryPage {
    /// Lists messages to a webhook, the newest first.
    public static func listWebhookDeliveries(
        of id: String, state: Contract.WebhookDeliveryState? = nil, topic: Contract.WebhookMessageType? = nil
    ) -> Self {
        Self(.listWebhookDeliveries, "/v1/webhooks/\(id)/deliveries", [("state", state), ("topic", topic)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.WebhookDeliveryLog {
    /// Shows a delivery, its message and every attempt.
    public static func getWebhookDelivery(_ delivery: String, of id: String) -> Self {
        Self(.getWebhookDelivery, "/v1/webhooks/\(id)/deliveries/\(delivery)")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.WebhookDelivery {
    /// Sends a message again, with a full round of retries.
    public static func replayWebhookDelivery(_ delivery: String, of id: String) -> Self {
        Self(.replayWebhookDelivery, "/v1/webhooks/\(id)/deliveries/\(delivery)/replay")
    }
}
