extension GrandstandClient.Call where Value == GrandstandClient.IssuedWebhook {
    /// Makes a webhook; its secret is in this answer only.
    public static func createWebhook(_ draft: GrandstandClient.WebhookDraft) -> Self {
        Self("createWebhook", .post, "/v1/webhooks", body: draft)
    }

    /// Makes another secret; the one before signs too until the overlap is over.
    public static func rotateWebhookSecret(_ id: String, overlapSeconds: Int? = nil) -> Self {
        Self(
            "rotateWebhookSecret", .post, "/v1/webhooks/\(id)/secret", body: Members(["overlapSeconds": overlapSeconds])
        )
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Page<GrandstandClient.Webhook> {
    /// Lists the webhooks the key may hear of.
    public static func listWebhooks() -> Self { Self("listWebhooks", .get, "/v1/webhooks") }
}

extension GrandstandClient.Call where Value == GrandstandClient.Webhook {
    /// Shows a webhook.
    public static func getWebhook(_ id: String) -> Self { Self("getWebhook", .get, "/v1/webhooks/\(id)") }

    /// Replaces what was said of a webhook; its secret stays.
    public static func putWebhook(_ id: String, _ draft: GrandstandClient.WebhookDraft) -> Self {
        Self("putWebhook", .put, "/v1/webhooks/\(id)", body: draft)
    }

    /// The same with a body as it is, for what this version's types do not say.
    public static func putWebhook(_ id: String, json: RawJSON) -> Self {
        Self("putWebhook", .put, "/v1/webhooks/\(id)", body: json)
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Removes a webhook and its log.
    public static func deleteWebhook(_ id: String) -> Self { Self("deleteWebhook", .delete, "/v1/webhooks/\(id)") }
}

extension GrandstandClient.Call where Value == GrandstandClient.WebhookDelivery {
    /// Posts a message of type webhook.test.
    public static func testWebhook(_ id: String) -> Self { Self("testWebhook", .post, "/v1/webhooks/\(id)/test") }

    /// Posts a message again, with a whole round of retries.
    public static func replayWebhookDelivery(_ delivery: String, of id: String) -> Self {
        Self("replayWebhookDelivery", .post, "/v1/webhooks/\(id)/deliveries/\(delivery)/replay")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Page<GrandstandClient.WebhookDelivery> {
    /// Lists what was posted, the newest first.
    public static func listWebhookDeliveries(
        of id: String, state: GrandstandClient.WebhookDeliveryState? = nil,
        topic: GrandstandClient.WebhookMessageType? = nil
    ) -> Self {
        Self(
            "listWebhookDeliveries", .get, "/v1/webhooks/\(id)/deliveries",
            [("state", state), ("topic", topic)])
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.WebhookDeliveryLog {
    /// Shows a delivery, its message and every try.
    public static func getWebhookDelivery(_ delivery: String, of id: String) -> Self {
        Self("getWebhookDelivery", .get, "/v1/webhooks/\(id)/deliveries/\(delivery)")
    }
}
