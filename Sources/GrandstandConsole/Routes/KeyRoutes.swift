internal import FoundationEssentials
internal import Grandstand
internal import JSON

/// `/console/keys`: who may call. Read and changed through `/v1/keys`, which knows whose keys a key manages.
struct KeyRoutes: RouteGroup {
    var routes: [PageRoute] {
        [PageRoute("/keys", .admin, list), PageRoute("/keys/:id", .admin, show)]
    }

    var actions: [ActionRoute] {
        [
            ActionRoute("/keys", .admin, create),
            ActionRoute("/keys/:id/rotate", .admin, irreversible: true, rotate),
            ActionRoute("/keys/:id/revoke", .admin, irreversible: true, revoke),
        ]
    }

    private func list(_ visit: Visit) async throws -> PageRoute.Answer {
        let path = ConsolePath.link("/v1/keys", [("limit", "50"), ("cursor", visit.query["cursor"])])
        return .page(KeyList(try await visit.get(path), visit))
    }

    private func show(_ visit: Visit) async throws -> PageRoute.Answer {
        .page(KeyDetail(try await visit.get("/v1/keys/\(visit.segment("id"))"), visit))
    }

    private func create(_ submission: Submission) async throws -> PageRoute.Answer {
        let fields = submission.fields
        var json = JSONWriter()
        json.object { object in
            object.member("name", fields["name"] ?? "")
            object.member("scopes", fields.all("scope"))
            object.member(apps: fields["bundleIds"])
            if let expiresAt = fields["expiresAt"] { object.member("expiresAt", FormTime.utc(expiresAt)) }
        }
        let issued = try await submission.call(APICall("POST", "/v1/keys", body: json.bytes)).accepted().json()
        return .page(
            IssuedSecret(
                title: "The key \(issued.text("name"))", secret: issued.text("secret"),
                use: "Callers send it as Authorization: Bearer …; people sign in to the console with it.",
                href: ConsolePath.key(issued.text("id"))))
    }

    private func rotate(_ submission: Submission) async throws -> PageRoute.Answer {
        let call = APICall(
            "POST", "/v1/keys/\(submission.visit.segment("id"))/rotations",
            body: JSONWriter.overlap(try submission.fields.overlap()))
        let issued = try await submission.call(call).accepted().json()
        return .page(
            IssuedSecret(
                title: "The key \(issued.text("name")), rotated", secret: issued.text("secret"),
                use: "It takes the old one's place: give it to whoever has that. Sessions of the old key have ended.",
                href: ConsolePath.key(issued.text("id"))))
    }

    private func revoke(_ submission: Submission) async throws -> PageRoute.Answer {
        try await submission.done(
            APICall("DELETE", "/v1/keys/\(submission.visit.segment("id"))"), at: ConsolePath.keys,
            "The key was revoked. Nobody comes in with it any more.")
    }
}
