internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import HTTPTypes
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// How the addresses of pages become calls, and what is shown if there is nothing to show.
@Suite(.database)
struct PageRouteTests {

    @Test func `a missing object gives a page with the request's ID`() async throws {
        let world = ConsoleWorld()
        let app = "/console/apps/com.example.Stadium"
        for path in [
            "/console/events/none", "/console/events/a%20b", app, app + "/production/channels",
            app + "/production/reconciliations/1", app + "/staging/channels",
        ] {
            let answer = try await world.get(path)
            #expect(answer.status == 404, "\(path)")
            #expect(answer.text.contains("<code>1a2b</code>"), "\(path)")
        }
    }

    @Test func `if the store cannot be reached the page says only that`() async throws {
        var world = ConsoleWorld()
        world.others = [
            PageRoute("/away", nil) { _ in throw Problem(.storeUnavailable, "It is away.", retryAfter: 1) },
            PageRoute("/broken", nil) { _ in throw NotScripted() },
        ]
        let away = try await world.get("/console/away")
        #expect(away.status == 503)
        #expect(away.headers[.retryAfter] == "1")
        let failed = try await world.get("/console/broken")
        #expect(failed.status == 500)
        #expect(failed.text.contains("log has the cause"))
    }

    @Test func `an event's page says who cancelled the event, and leaves the feed's updates out`() async throws {
        let world = ConsoleWorld()
        try await world.rows.put(.sample(audiences: [.sample("com.example.Stadium")]), as: "derby")
        try await world.database.query(
            """
            insert into audit_log (at, actor, action, bundle_id, event_key)
            values (\(Samples.now), 'key:desk', 'event.cancelled', 'com.example.Stadium', 'derby'),
                (\(Samples.now), 'key:feed', 'broadcast.accepted', 'com.example.Stadium', 'derby'),
                (\(Samples.now), 'key:other', 'event.cancelled', 'com.example.Stadium', 'cup')
            """)
        let page = try await world.get("/console/events/derby").text
        #expect(page.contains("key:desk") && !page.contains("key:feed") && !page.contains("key:other"))
    }

    @Test func `live events come first, then those to come, then those that are over`() async throws {
        let world = ConsoleWorld()
        let audiences = [try Audience.sample("com.example.Stadium")]
        for (key, start) in [("over", -7_200.0), ("later", 90_000), ("soon", 3_600), ("live", -60)] {
            try await world.rows.put(.sample(startsAt: Samples.now + start, audiences: audiences), as: key)
        }
        try await world.rows.accept(.end(#"{"home": 7}"#), for: "over")
        func keys(_ query: String) async throws -> [String] {
            try await world.get("/console/events" + query).text.matches(of: /<code>(\w+)<\/code>/).map { String($0.1) }
        }
        #expect(try await keys("") == ["live", "soon", "later", "over"])
        #expect(try await keys("?find=OO") == ["soon"])
        #expect(try await keys("?state=ended&bundleId=com.example.Stadium") == ["over"])
    }
}

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
        for page in try world.pages() where page.form == nil {
            guard let scope = page.scope?.rawValue else {
                // The page of an operation with several scopes. The operation checks them.
                #expect(page.pattern == "/console" || page.pattern.hasPrefix("/console/webhooks"))
                continue
            }
            for secret in ["operate", "organise"] where secret != scope {
                let answer = try await world.get(Self.filled(page.pattern), as: secret)
                #expect(answer.status == 403, "\(page.pattern) with \(secret)")
                #expect(answer.text.contains("The key test does not hold the scope \(scope)."))
            }
        }
    }

    @Test func `a form is refused to a key with another scope, without a token and from another site`() async throws {
        var world = ConsoleWorld()
        let site = ["Sec-Fetch-Site": "cross-site"]
        for form in try world.pages() where form.form != nil {
            let path = Self.filled(form.pattern)
            // A key for apps may make few calls of pages.
            world.limits = RateLimits()
            let refused = try await world.submit(path, [("currentKey", "lookup")], as: "lookup")
            #expect(refused.status == 403, "\(path)")
            let session = try await world.session(form.scope?.rawValue ?? "operate")
            let token = ("token", session.formToken())
            #expect(try await world.post(path, [], in: session).status == 403, "\(path)")
            #expect(try await world.post(path, [token], in: session, headers: site).status == 403, "\(path)")
        }
    }

    @Test func `a form whose action cannot be undone does nothing without the key`() async throws {
        let world = ConsoleWorld()
        let paths = try world.pages().filter { $0.form == .irreversible }.map { Self.filled($0.pattern) }
        let place = Self.app + "/production"
        #expect(
            Set(paths) == [
                Self.app + "/delete", place + "/channels/\(Self.id)/delete",
                place + "/reconciliations/run/delete-unmanaged", place + "/reconciliations/run/recreate",
                "/console/keys/\(Self.id)/revoke", "/console/keys/\(Self.id)/rotate",
                "/console/webhooks/\(Self.id)/secret", "/console/webhooks/\(Self.id)/delete",
            ])
        for path in paths {
            let answer = try await world.submit(path)
            #expect(answer.status == 403 && answer.text.contains("The key is wrong"), "\(path)")
        }
    }

    @Test func `the overview is for operators, and organisers are sent to their events`() async throws {
        #expect(try await ConsoleWorld().get("/console", as: "organise").location == "/console/events")
        let nothing = try await ConsoleWorld().get("/console", as: "lookup")
        #expect(nothing.status == 403 && nothing.text.contains("operate or organise"))
    }

    @Test func `a revoked key's page can still disable the webhooks that the key declared`() async throws {
        let world = ConsoleWorld()
        let key = ConsoleWorld.id(of: "admin")
        for name in ["admin", "admin-lookup"] { _ = try await world.session(name) }
        try await world.database.query("update api_keys set revoked_at = \(Samples.now) where id = \(key)")
        let page = try await world.get("/console/keys/\(key)", as: "admin-lookup")
        #expect(page.status == 200 && page.text.contains(#"name="disableWebhooks" value="true""#))
    }
}
