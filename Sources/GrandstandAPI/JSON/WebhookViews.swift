package import Grandstand
package import JSON

/// A webhook as it is answered; its secret only when it is new.
struct WebhookView: JSONObjectWritable, Sendable {
    let webhook: Webhook
    var secret: WebhookSecret?

    func write(members object: inout JSONWriter) {
        let draft = webhook.draft
        object.member("id", webhook.id)
        object.member("url", draft.url.rawValue)
        object.member("description", draft.description)
        object.member("topics", draft.topics.map(\.rawValue))
        object.members(of: draft.reach)
        object.member("enabled", draft.isEnabled)
        object.member("reason", webhook.reason)
        object.member("failingSince", webhook.failingSince)
        object.member("previousSecretUntil", webhook.previousSecretUntil)
        object.member("createdAt", webhook.createdAt)
        object.member("updatedAt", webhook.updatedAt)
        if let secret { object.member("secret", secret.rawValue) }
    }
}

extension WebhookDelivery: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("id", id)
        object.member("messageId", Self.messageName(message))
        object.member("topic", topic.rawValue)
        object.member("state", state.rawValue)
        object.member("attempts", attempts)
        object.member("status", status)
        object.member("reason", reason)
        object.member("createdAt", createdAt)
        object.member("nextAttemptAt", nextAttemptAt)
        object.member("settledAt", settledAt)
    }
}

extension WebhookDeliveryLog: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        delivery.write(members: &object)
        object.member("message", raw: body)
        object.objects("log", attempts) { object, attempt in
            object.member("attempt", attempt.number)
            object.member("at", attempt.at)
            object.member("milliseconds", attempt.milliseconds)
            object.member("status", attempt.status)
            object.member("reason", attempt.reason)
        }
    }
}
