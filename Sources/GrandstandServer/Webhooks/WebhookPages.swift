internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// `/console/webhooks`: webhooks, and the log of their messages.
struct WebhookPages: PageGroup {
    let webhooks: WebhookStore

    var routes: [PageRoute] {
        [
            PageRoute("/webhooks", nil, list), PageRoute("/webhooks/:id", nil, show),
            PageRoute("/webhooks/:id/deliveries/:delivery", nil, delivery),
        ]
    }

    var actions: [ActionRoute] {
        [
            ActionRoute("/webhooks", nil, create), ActionRoute("/webhooks/:id", nil, change),
            ActionRoute("/webhooks/:id/pause", nil) { try await setEnabled(false, $0) },
            ActionRoute("/webhooks/:id/resume", nil) { try await setEnabled(true, $0) },
            ActionRoute("/webhooks/:id/secret", nil, irreversible: true, rotate),
            ActionRoute("/webhooks/:id/test", nil, test),
            ActionRoute("/webhooks/:id/delete", nil, irreversible: true, delete),
            ActionRoute("/webhooks/:id/deliveries/:delivery/replay", nil, replay),
        ]
    }

    private func list(_ visit: Visit) async throws -> PageRoute.Answer {
        .page(WebhookList(try await webhooks.list(visit.page, visit.caller(of: .listWebhooks)), visit))
    }

    private func show(_ visit: Visit) async throws -> PageRoute.Answer {
        let caller = try visit.caller(of: .getWebhook)
        let webhook = try await webhooks.webhook(try visit.webhook, caller)
        let query = visit.query
        let log = try await webhooks.deliveries(
            of: try visit.webhook, state: try query.choice("state"), topic: try query.choice("topic"),
            PageRequest(limit: 25, cursor: query["cursor"]), caller)
        return .page(WebhookDetail(webhook, log, visit))
    }

    private func delivery(_ visit: Visit) async throws -> PageRoute.Answer {
        let id = try visit.id("delivery", orThrow: .webhookDeliveryNotFound)
        let log = try await webhooks.delivery(
            id, of: try visit.webhook, visit.caller(of: .getWebhookDelivery))
        return .page(WebhookDeliveryDetail(log, webhook: visit.segment("id")))
    }

    private func create(_ submission: Submission) async throws -> PageRoute.Answer {
        let draft = try draft(submission, .createWebhook, isEnabled: true)
        let made = try await submission.once(.createWebhook) { try await webhooks.create(draft, $0) }
        return .page(Self.secret(made, "The webhook to \(made.url)"))
    }

    /// Changes the webhook, but does not turn it on or off. If the form is sent twice, the second request also
    /// succeeds, because the webhook already has these values.
    private func change(_ submission: Submission) async throws -> PageRoute.Answer {
        let (fields, visit) = (submission.fields, submission.visit)
        let caller = try visit.caller(of: .putWebhook)
        let draft = try draft(submission, .putWebhook, isEnabled: fields["enabled"] != "false")
        do {
            _ = try await webhooks.replace(try visit.webhook, with: draft, if: fields.version, caller)
        } catch let problem as Problem where problem.kind == .versionMismatch {
            let present = try await webhooks.webhook(try visit.webhook, caller).value
            guard Contract.WebhookDraft(present) == draft else { throw problem }
        }
        return .done(ConsolePath.webhook(visit.segment("id")), notice: "The webhook was changed.")
    }

    private func setEnabled(_ isEnabled: Bool, _ submission: Submission) async throws -> PageRoute.Answer {
        let visit = submission.visit
        try await webhooks.setEnabled(isEnabled, try visit.webhook, visit.caller(of: .putWebhook))
        return .done(
            ConsolePath.webhook(visit.segment("id")),
            notice: isEnabled
                ? "The webhook is enabled. Waiting messages are sent now."
                : "The webhook is disabled. No new messages are queued; queued ones wait.")
    }

    private func rotate(_ submission: Submission) async throws -> PageRoute.Answer {
        let id = try submission.visit.webhook
        let overlap = try Contract.WebhookRotation.read(try submission.fields.overlap()).overlapSeconds
        let made = try await submission.once(.rotateWebhookSecret) {
            try await webhooks.rotateSecret(of: id, overlap: overlap, $0)
        }
        return .page(Self.secret(made, "The webhook to \(made.url), with a new secret"))
    }

    private func test(_ submission: Submission) async throws -> PageRoute.Answer {
        let id = try submission.visit.webhook
        _ = try await submission.once(.testWebhook) { try await webhooks.test(id, $0) }
        return .done(
            ConsolePath.webhook(submission.visit.segment("id")), notice: "A message webhook.test is on its way.")
    }

    private func delete(_ submission: Submission) async throws -> PageRoute.Answer {
        let visit = submission.visit
        do {
            try await webhooks.delete(try visit.webhook, visit.caller(of: .deleteWebhook))
        } catch let problem as Problem where problem.kind == .webhookNotFound {
            // If the webhook is already deleted, the form was sent twice.
        }
        return .done(ConsolePath.webhooks, notice: "The webhook and its log are gone.")
    }

    private func replay(_ submission: Submission) async throws -> PageRoute.Answer {
        let visit = submission.visit
        let webhook = try visit.webhook
        let delivery = try visit.id("delivery", orThrow: .webhookDeliveryNotFound)
        _ = try await submission.once(.replayWebhookDelivery) {
            try await webhooks.replay(delivery, of: webhook, $0)
        }
        return .done(
            ConsolePath.webhookDelivery(visit.segment("delivery"), of: visit.segment("id")),
            notice: "The message is sent again, with all retries.")
    }

    private func draft(
        _ submission: Submission, _ operation: Contract.Operation, isEnabled: Bool
    ) throws(Problem) -> Contract.WebhookDraft {
        let fields = submission.fields
        let body = try JSONValue.body { object in
            object.member("url", fields["url"] ?? "")
            if let description = fields["description"] { object.member("description", description) }
            object.member("topics", fields.all("topic"))
            object.member(apps: fields["bundleIds"])
            object.member("enabled", isEnabled)
        }
        return try webhooks.draft(body, submission.visit.caller(of: operation))
    }

    private static func secret(_ made: Contract.IssuedWebhook, _ title: String) -> IssuedSecret {
        IssuedSecret(
            title: title, secret: made.secret, warnings: made.warnings,
            purpose: "The receiver checks each message's signature with it.",
            href: ConsolePath.webhook(made.id))
    }
}
