internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// Who may send the console's forms. The browser check plays the forms with a real browser.
@Suite(.database)
struct FormRouteTests {
    private static let id = "11111111-2222-4333-8444-555555555555"
    private static let app = "apps/com.example.Stadium"
    private static let channels = app + "/production/channels"
    private static let runs = app + "/production/reconciliations/run/"

    /// The addresses of forms by the scope that they need.
    private static let forms: [(String, [String])] = [
        (
            "organise",
            [
                "events/derby/send", "events/derby/preview", "events/derby/broadcasts/\(id)/withdraw",
                "events/derby/cancel", "events/derby/reopen", "events/derby/start", "events/derby/stop",
                "events/derby/move", "declare",
            ]
        ),
        ("admin", [app, app + "/delete", "keys", "keys/\(id)/revoke", "keys/\(id)/rotate"]),
        (
            "operate",
            ["/create", "/import", "/\(id)/verify", "/\(id)/delete", "/\(id)/force-delete"].map { channels + $0 }
                + ["look", "apply", "delete-unmanaged"].map { runs + $0 }
        ),
    ]

    @Test(arguments: forms)
    func `a form is refused to a key with another scope, without a token and from another site`(
        scope: String, paths: [String]
    ) async throws {
        let world = ConsoleWorld()
        let session = try await world.session(scope)
        let token = ("token", FormToken.text(for: session, now: world.now()))
        let site = ["Sec-Fetch-Site": "cross-site"]
        for path in paths {
            let path = "/console/" + path
            let refused = try await world.submit(path, [], as: "lookup")
            #expect(refused.status == 403 && refused.body.contains("needs a key with the scope \(scope)"), "\(path)")
            #expect(try await world.post(path, [], in: session).status == 403, "\(path)")
            #expect(try await world.post(path, [token], in: session, headers: site).status == 403, "\(path)")
        }
    }

    @Test(arguments: [
        app + "/delete", channels + "/\(id)/delete", channels + "/\(id)/force-delete", "keys/\(id)/revoke",
        "keys/\(id)/rotate", "webhooks/\(id)/secret", "webhooks/\(id)/delete", runs + "delete-unmanaged",
        runs + "recreate",
    ])
    func `a form whose action cannot be undone does nothing without the key`(path: String) async throws {
        let answer = try await ConsoleWorld().submit("/console/" + path)
        #expect(answer.status == 422 && answer.body.contains("The key is missing"))
    }

    @Test func `a manual reconciliation does what its button says`() {
        let bodies = Reconciling.allCases.map { Dictionary(uniqueKeysWithValues: $0.body.map { ($0.name, $0.value) }) }
        #expect(
            bodies == [
                ["apply": false], ["apply": true], ["apply": true, "adopt": true],
                ["apply": true, "deleteUnmanaged": true], ["apply": true, "recreate": true],
            ])
    }

    @Test(arguments: ["enabled", "disabled"])
    func `a revoked key's page can disable the webhooks that the key declared, if they are enabled`(
        state: String
    ) async throws {
        let world = ConsoleWorld()
        _ = try await world.submit(
            "/console/webhooks", [("url", "https://hooks.example.com/x"), ("topic", "broadcast.settled")], as: "admin")
        let key = ConsoleWorld.id(of: "admin")
        try await world.database.query("update webhooks set state = \(state)::text::webhook_state")
        _ = try await world.session("admin-lookup")
        try await world.database.query("update api_keys set revoked_at = \(Samples.now) where id = \(key)")
        let page = try await world.get("/console/keys/\(key)", as: "admin-lookup")
        #expect(page.status == 200)
        #expect(page.body.contains(#"name="disableWebhooks" value="true""#) == (state == "enabled"))
    }
}
