internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// Which key may open which page and send which form. The browser check plays the forms with a real browser.
@Suite(.database)
struct PageAccessTests {
    private static let id = "11111111-2222-4333-8444-555555555555"
    private static let app = "/console/apps/com.example.Stadium"

    /// A path with values in place of its parameters.
    private static func filled(_ path: String) -> String {
        [
            "bundleId": "com.example.Stadium", "environment": "production", "key": "derby", "id": id, "delivery": id,
        ].reduce(path) { $0.replacingOccurrences(of: ":" + $1.key, with: $1.value) }
    }

    @Test func `a page is refused to a key without its scope before any call`() async throws {
        let world = ConsoleWorld()
        for page in try world.groups().flatMap(\.routes) {
            guard let scope = page.scope?.rawValue else {
                // The page of an operation with several scopes. The operation checks them.
                #expect(page.path == "/console" || page.path.hasPrefix("/console/webhooks"))
                continue
            }
            for secret in ["operate", "organise"] where secret != scope {
                let answer = try await world.get(Self.filled(page.path), as: secret)
                #expect(answer.status == 403, "\(page.path) with \(secret)")
                #expect(answer.body.contains("needs a key with the scope \(scope); the key test holds \(secret)"))
            }
        }
    }

    @Test func `a form is refused to a key with another scope, without a token and from another site`() async throws {
        var world = ConsoleWorld()
        let site = ["Sec-Fetch-Site": "cross-site"]
        for form in try world.groups().flatMap(\.actions) {
            let path = Self.filled(form.path)
            // A key for apps may make few calls of pages.
            world.limits = RateLimits(requests: nil, failures: nil)
            let refused = try await world.submit(path, [("currentKey", "lookup")], as: "lookup")
            #expect(refused.status == 403, "\(path)")
            let session = try await world.session(form.scope?.rawValue ?? "operate")
            let token = ("token", FormToken.text(for: session, now: world.now()))
            #expect(try await world.post(path, [], in: session).status == 403, "\(path)")
            #expect(try await world.post(path, [token], in: session, headers: site).status == 403, "\(path)")
        }
    }

    @Test func `a form whose action cannot be undone does nothing without the key`() async throws {
        let world = ConsoleWorld()
        let paths = try world.groups().flatMap(\.actions).filter(\.irreversible).map { Self.filled($0.path) }
        let place = Self.app + "/production"
        #expect(
            Set(paths) == [
                Self.app + "/delete", place + "/channels/\(Self.id)/delete",
                place + "/channels/\(Self.id)/force-delete",
                place + "/reconciliations/run/delete-unmanaged", place + "/reconciliations/run/recreate",
                "/console/keys/\(Self.id)/revoke", "/console/keys/\(Self.id)/rotate",
                "/console/webhooks/\(Self.id)/secret", "/console/webhooks/\(Self.id)/delete",
            ])
        for path in paths {
            let answer = try await world.submit(path)
            #expect(answer.status == 422 && answer.body.contains("The key is missing"), "\(path)")
        }
    }

    @Test func `the overview is for operators, and organisers are sent to their events`() async throws {
        #expect(try await ConsoleWorld().get("/console", as: "organise").location == "/console/events")
        let nothing = try await ConsoleWorld().get("/console", as: "lookup")
        #expect(nothing.status == 403 && nothing.body.contains("operate or organise"))
    }

    @Test(arguments: [
        "/console/apps/com.example.Other", "/console/apps/com.example.other/production/channels",
        "/console/apps/com.example.Other/development/reconciliations",
        "/console/apps/com.example.Other/development/reconciliations/\(id)",
        "/console/events?bundleId=com.example.Other", "/console/audit-log?bundleId=com.example.Other",
    ])
    func `pages of another app are refused before any call`(path: String) async throws {
        let answer = try await ConsoleWorld().get(path, as: "operate-organise@")
        #expect(answer.status == 403)
        #expect(answer.body.contains("com.example.Stadium only"))
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
