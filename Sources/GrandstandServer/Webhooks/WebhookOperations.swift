internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The operations on webhooks. Each topic requires its own scope: organisers may get messages about broadcasts,
/// operators about quotas.
struct WebhookOperations: Sendable {
    let webhooks: any WebhookStore
    let networks: NetworkGuard
    /// Returns why messages to a URL would be refused; `nil`: they would be sent. The decision depends on the addresses
    /// that the URL's host name resolves to now.
    var refusal: @Sendable (WebhookURL) async -> String? = { _ in nil }
    let now: @Sendable () -> Date

    /// - Throws: `forbidden`; `invalid-request` for an address that may not be called; the errors of the store.
    func create(_ draft: WebhookDraft, _ caller: Caller) async throws -> Contract.IssuedWebhook {
        try await requireAddress(of: draft.url)
        let (webhook, secret) = try await webhooks.create(draft, by: caller.actor, now: now())
        return Contract.IssuedWebhook(webhook, secret: secret)
    }

    /// The webhooks whose topics and apps the caller's key may access.
    ///
    /// - Parameter declaredBy: returns only the webhooks that this key declared; `nil`: no restriction.
    func list(
        _ page: PageRequest, declaredBy: UUID? = nil, _ caller: Caller
    ) async throws -> Contract.Page<Contract.Webhook> {
        var filter = Self.bounds(of: caller)
        filter.declaredBy = declaredBy
        return Contract.Page(try await webhooks.webhooks(where: filter, page), Contract.Webhook.init)
    }

    /// - Throws: `webhook-not-found`, also if the key may not access all apps of the webhook; `forbidden` if the key
    ///   may not read all topics of the webhook.
    func webhook(_ id: UUID, _ caller: Caller) async throws -> Versioned<Contract.Webhook> {
        Versioned(try await present(id, caller))
    }

    /// - Throws: the errors of `webhook`; `version-mismatch`.
    func replace(
        _ id: UUID, with draft: WebhookDraft, if condition: WriteCondition, _ caller: Caller
    ) async throws -> Versioned<Contract.Webhook> {
        let present = try await present(id, caller)
        if present.draft.url != draft.url { try await requireAddress(of: draft.url) }
        let replaced = try await webhooks.replace(
            present.id, with: draft, within: Self.bounds(of: caller), by: caller.actor, if: condition, now: now())
        guard let replaced else { throw Problem.webhookNotFound(id) }
        return Versioned(replaced)
    }

    /// Whether a webhook is declared with these values. If so, a form that is sent a second time counts as successful.
    ///
    /// - Throws: the errors of `webhook`.
    func isDeclared(_ id: UUID, as draft: WebhookDraft, _ caller: Caller) async throws -> Bool {
        try await present(id, caller).draft == draft
    }

    /// Turns a webhook on or off, and changes nothing else.
    ///
    /// - Throws: the errors of `webhook`; `version-mismatch` if another writer was faster.
    func setEnabled(_ isEnabled: Bool, _ id: UUID, _ caller: Caller) async throws {
        let present = try await present(id, caller)
        var draft = present.draft
        draft.isEnabled = isEnabled
        _ = try await replace(id, with: draft, if: .versions([present.version]), caller)
    }

    /// - Throws: the errors of `webhook`.
    func delete(_ id: UUID, _ caller: Caller) async throws {
        let webhook = try await present(id, caller)
        let isDeleted = try await webhooks.delete(
            webhook.id, within: Self.bounds(of: caller), by: caller.actor, now: now())
        guard isDeleted else { throw Problem.webhookNotFound(id) }
    }

    /// - Parameter overlap: seconds for which messages are also signed with the old secret; `nil`: a day.
    /// - Throws: the errors of `webhook`.
    func rotateSecret(of id: UUID, overlap: Int?, _ caller: Caller) async throws -> Contract.IssuedWebhook {
        let present = try await present(id, caller)
        let rotated = try await webhooks.rotateSecret(
            of: present.id, overlap: TimeInterval(overlap ?? 86_400), within: Self.bounds(of: caller),
            by: caller.actor, now: now())
        guard let (webhook, secret) = rotated else { throw Problem.webhookNotFound(id) }
        return Contract.IssuedWebhook(webhook, secret: secret)
    }

    /// Sends a message `webhook.test`.
    ///
    /// - Throws: the errors of `webhook`.
    func test(_ id: UUID, _ caller: Caller) async throws -> Contract.WebhookDelivery {
        let webhook = try await present(id, caller)
        let queued = try await webhooks.test(
            webhook.id, within: Self.bounds(of: caller), by: caller.actor, now: now())
        guard let delivery = queued else { throw Problem.webhookNotFound(id) }
        return Contract.WebhookDelivery(delivery)
    }

    /// - Throws: the errors of `webhook`.
    func deliveries(
        of id: UUID, where filter: WebhookDeliveryFilter, _ page: PageRequest, _ caller: Caller
    ) async throws -> Contract.Page<Contract.WebhookDelivery> {
        let webhook = try await present(id, caller)
        return Contract.Page(
            try await webhooks.deliveries(of: webhook.id, where: filter, page), Contract.WebhookDelivery.init)
    }

    /// One delivery with all attempts. The result is the domain type and not a contract type, because the message in it
    /// keeps the bytes that were signed.
    ///
    /// - Throws: the errors of `webhook`; `webhook-delivery-not-found`.
    func delivery(_ delivery: UUID, of id: UUID, _ caller: Caller) async throws -> WebhookDeliveryLog {
        let webhook = try await present(id, caller)
        guard let log = try await webhooks.delivery(delivery, of: webhook.id) else {
            throw Problem.webhookDeliveryNotFound(delivery)
        }
        return log
    }

    /// Sends a message again, with the full number of attempts.
    ///
    /// - Throws: the errors of `delivery`.
    func replay(_ delivery: UUID, of id: UUID, _ caller: Caller) async throws -> Contract.WebhookDelivery {
        let webhook = try await present(id, caller)
        let queued = try await webhooks.replay(
            delivery, of: webhook.id, within: Self.bounds(of: caller), now: now())
        guard let replayed = queued else { throw Problem.webhookDeliveryNotFound(delivery) }
        return Contract.WebhookDelivery(replayed)
    }

    /// Reads a body. The messages of a webhook may contain only what the key that declares the webhook may read.
    ///
    /// - Throws: `invalid-request`, `forbidden`.
    func draft(_ body: JSONValue, _ caller: Caller) throws(Problem) -> WebhookDraft {
        guard caller.reach.eventKeyPrefix == nil else {
            throw Problem(
                .forbidden,
                "The key \(caller.key.name) is bound to a prefix of event keys, and webhooks are told of all events "
                    + "of an app. Ask an administrator to declare the webhook.")
        }
        let draft = try WebhookDraft(body, networks: networks, boundTo: caller.reach)
        try caller.requireAccess(to: draft.reach)
        for topic in draft.topics where !caller.key.hears(topic) {
            let scopes = topic.scopes.map(\.rawValue).sorted().joined(separator: " or ")
            throw Problem(
                .forbidden, "The key \(caller.key.name) needs the scope \(scopes) to hear of \(topic.rawValue).")
        }
        return draft
    }

    /// Refuses a host name whose addresses may not be called. A host name without an address is accepted, because it
    /// may get an address later.
    private func requireAddress(of url: WebhookURL) async throws {
        guard let reason = await refusal(url) else { return }
        throw Problem.invalid("Messages to this URL would be refused. \(reason)", at: "/url", reason)
    }

    /// The webhooks that the caller may read.
    private static func bounds(of caller: Caller) -> WebhookFilter {
        WebhookFilter(topics: Set(WebhookTopic.allCases.filter { caller.key.hears($0) }), within: caller.reach)
    }

    private func present(_ id: UUID, _ caller: Caller) async throws -> Webhook {
        guard let webhook = try await webhooks.webhook(id), caller.reach.covers(webhook.draft.reach) else {
            throw Problem.webhookNotFound(id)
        }
        guard webhook.draft.topics.allSatisfy({ caller.key.hears($0) }) else {
            throw Problem(.forbidden, "The key \(caller.key.name) lacks a scope for some topics of this webhook.")
        }
        return webhook
    }
}

extension Versioned<Contract.Webhook> {
    fileprivate init(_ webhook: Webhook) { self.init(value: Contract.Webhook(webhook), version: webhook.version) }
}

extension Problem {
    fileprivate static func webhookNotFound(_ id: UUID) -> Problem {
        Problem(.webhookNotFound, "There is no webhook \(id.words).")
    }

    fileprivate static func webhookDeliveryNotFound(_ id: UUID) -> Problem {
        Problem(.webhookDeliveryNotFound, "The webhook has no delivery \(id.words); old ones are forgotten.")
    }
}
