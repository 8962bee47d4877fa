/// The interface to the receivers of webhooks.
package protocol WebhookGateway: Sendable {
    /// Posts a message once, within a limited time. A redirect counts as an answer like any other.
    func post(_ message: ClaimedWebhook) async -> WebhookAnswer
}
