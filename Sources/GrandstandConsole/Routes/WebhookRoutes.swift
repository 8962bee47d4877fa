internal import FoundationEssentials
internal import Grandstand
internal import JSON

/// `/console/webhooks`: where messages are posted, and what came of it. Read and changed through `/v1/webhooks`, which
/// knows which topics and apps a key hears of.
struct WebhookRoutes: RouteGroup {
    var routes: [PageRoute] {
        [
            PageRoute("/webhooks", nil, list), PageRoute("/webhooks/:id", nil, show),
            PageRoute("/webhooks/:id/deliveries/:delivery", nil, delivery),
        ]
    }

    var actions: [ActionRoute] {
        [
            ActionRoute("/webhooks", nil, create), ActionRoute("/webhooks/:id", nil, change),
            ActionRoute("/webhooks/:id/pause", nil) { try await turn($0, on: false) },
            ActionRoute("/webhooks/:id/resume", nil) { try await turn($0, on: true) },
            ActionRoute("/webhooks/:id/secret", nil, irreversible: true, rotate),
            ActionRoute("/webhooks/:id/test", nil, test),
            ActionRoute("/webhooks/:id/delete", nil, irreversible: true, delete),
            ActionRoute("/webhooks/:id/deliveries/:delivery/replay", nil, replay),
        ]
    }

    private func list(_ visit: Visit) async throws -> PageRoute.Answer {
        let path = ConsolePath.link("/v1/webhooks", [("limit", "50"), ("cursor", visit.query["cursor"])])
        return .page(WebhookList(try await visit.get(path), visit))
    }

    private func show(_ visit: Visit) async throws -> PageRoute.Answer {
        let path = "/v1/webhooks/\(visit.segment("id"))"
        let answer = try await visit.carry(APICall("GET", path)).accepted()
        let query = ["cursor", "state", "topic"].map { (name: $0, value: visit.query[$0]) }
        let log = try await visit.get(ConsolePath.link(path + "/deliveries", query + [("limit", "25")]))
        return .page(WebhookDetail(try answer.json(), etag: answer.etag, log, visit))
    }

    private func delivery(_ visit: Visit) async throws -> PageRoute.Answer {
        let path = "/v1/webhooks/\(visit.segment("id"))/deliveries/\(visit.segment("delivery"))"
        return .page(WebhookDeliveryDetail(try await visit.get(path), webhook: visit.segment("id")))
    }

    private func create(_ submission: Submission) async throws -> PageRoute.Answer {
        let call = APICall("POST", "/v1/webhooks", body: Self.body(submission.fields, isEnabled: true))
        let made = try await submission.call(call).accepted().json()
        return .page(Self.secret(made, "The webhook to \(made.text("url"))"))
    }

    /// What the form says of the webhook; whether it is paused is not for this form.
    private func change(_ submission: Submission) async throws -> PageRoute.Answer {
        let fields = submission.fields
        let call = APICall(
            "PUT", Self.path(submission), body: Self.body(fields, isEnabled: fields["enabled"] != "false"),
            ifMatch: fields["etag"])
        _ = try await submission.write(call).accepted()
        return .done(ConsolePath.webhook(submission.visit.segment("id")), notice: "The webhook was changed.")
    }

    private func turn(_ submission: Submission, on isEnabled: Bool) async throws -> PageRoute.Answer {
        let path = Self.path(submission)
        let present = try await submission.call(APICall("GET", path)).accepted()
        let webhook = try present.json()
        var json = JSONWriter()
        json.object { object in
            object.members(["url", "description", "topics"], of: webhook)
            if webhook["bundleIds"]?.elements != nil { object.members(["bundleIds"], of: webhook) }
            object.member("enabled", isEnabled)
        }
        _ = try await submission.call(APICall("PUT", path, body: json.bytes, ifMatch: present.etag)).accepted()
        return .done(
            ConsolePath.webhook(submission.visit.segment("id")),
            notice: isEnabled
                ? "It is on: what waits is posted now."
                : "It is paused: nothing new is written for it, and what is queued waits.")
    }

    private func rotate(_ submission: Submission) async throws -> PageRoute.Answer {
        let call = APICall(
            "POST", Self.path(submission) + "/secret", body: JSONWriter.overlap(try submission.fields.overlap()))
        let made = try await submission.call(call).accepted().json()
        return .page(Self.secret(made, "The webhook to \(made.text("url")), with a new secret"))
    }

    private func test(_ submission: Submission) async throws -> PageRoute.Answer {
        try await submission.done(
            APICall("POST", Self.path(submission) + "/test"), at: ConsolePath.webhook(submission.visit.segment("id")),
            "A message webhook.test is on its way.")
    }

    private func delete(_ submission: Submission) async throws -> PageRoute.Answer {
        try await submission.delete(Self.path(submission))
        return .done(ConsolePath.webhooks, notice: "The webhook and its log are gone.")
    }

    private func replay(_ submission: Submission) async throws -> PageRoute.Answer {
        let (id, delivery) = (submission.visit.segment("id"), submission.visit.segment("delivery"))
        return try await submission.done(
            APICall("POST", "\(Self.path(submission))/deliveries/\(delivery)/replay"),
            at: ConsolePath.webhookDelivery(delivery, of: id), "It is posted again, with a whole round of tries.")
    }

    private static func path(_ submission: Submission) -> String { "/v1/webhooks/\(submission.visit.segment("id"))" }

    private static func body(_ fields: FormFields, isEnabled: Bool) -> [UInt8] {
        var json = JSONWriter()
        json.object { object in
            object.member("url", fields["url"] ?? "")
            if let description = fields["description"] { object.member("description", description) }
            object.member("topics", fields.all("topic"))
            object.member(apps: fields["bundleIds"])
            object.member("enabled", isEnabled)
        }
        return json.bytes
    }

    private static func secret(_ made: JSONValue, _ title: String) -> IssuedSecret {
        IssuedSecret(
            title: title, secret: made.text("secret"),
            use: "The receiver checks each message's signature with it (docs/webhooks.md).",
            href: ConsolePath.webhook(made.text("id")))
    }
}
