/// The way to receivers of webhooks.
package protocol WebhookGateway: Sendable {
    /// Posts a message, once, within a bounded time; a redirect is an answer like any other.
    func post(_ message: ClaimedWebhook) async -> WebhookAnswer
}
