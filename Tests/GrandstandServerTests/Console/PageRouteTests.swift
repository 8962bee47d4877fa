internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import HTTPTypes
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// How the addresses of pages become calls, and what is shown if there is nothing to show.
@Suite(.database)
struct PageRouteTests {
    private static let place = "/console/apps/com.example.Stadium/production"

    @Test func `a missing object gives a page with the request's ID`() async throws {
        let world = ConsoleWorld()
        for path in [
            "/console/events/none", "/console/events/a%20b", "/console/apps/com.example.None", Self.place + "/channels",
            Self.place + "/reconciliations", Self.place + "/reconciliations/11111111-2222-4333-8444-555555555555",
            Self.place + "/reconciliations/1", "/console/apps/com.example.Stadium/staging/channels",
        ] {
            let answer = try await world.get(path)
            #expect(answer.status == 404, "\(path)")
            #expect(answer.body.contains("<code>1a2b</code>"), "\(path)")
        }
    }

    @Test func `if the store cannot be reached the page says only that`() async throws {
        var world = ConsoleWorld()
        world.activity = { _ in throw Problem(.storeUnavailable, "It is away.", retryAfter: 1) }
        let away = try await world.get("/console")
        #expect(away.status == 503)
        #expect(away.headers[.retryAfter] == "1")
        world.activity = { _ in throw NotScripted() }
        let failed = try await world.get("/console")
        #expect(failed.status == 500)
        #expect(failed.body.contains("log has the cause"))
    }

    @Test(arguments: ["/console/sign-in", "/console/apps", "/console/style.css", "/console/events?state=nonsense"])
    func `HEAD answers like GET, without the page`(path: String) async throws {
        let world = ConsoleWorld()
        let (page, head) = (try await world.get(path), try await world.head(path))
        #expect(head.status == page.status && head.body.isEmpty && !page.body.isEmpty)
        for name in [HTTPField.Name.contentType, .contentLength, .cacheControl, .contentSecurityPolicy] {
            #expect(head.headers[name] == page.headers[name], "\(name)")
        }
    }

    @Test func `an event's page says who cancelled the event, and leaves the feed's updates out`() async throws {
        let world = ConsoleWorld()
        try await world.rows.put(.sample("derby", audiences: [.sample("com.example.Stadium")]))
        try await world.database.query(
            """
            insert into audit_log (at, actor, action, bundle_id, event_key)
            values (\(Samples.now), 'key:desk', 'event.cancelled', 'com.example.Stadium', 'derby'),
                (\(Samples.now), 'key:feed', 'broadcast.accepted', 'com.example.Stadium', 'derby'),
                (\(Samples.now), 'key:other', 'event.cancelled', 'com.example.Stadium', 'cup')
            """)
        let page = try await world.get("/console/events/derby").body
        #expect(page.contains("key:desk") && !page.contains("key:feed") && !page.contains("key:other"))
    }

    @Test func `live events come first, then those to come, then those that are over, with their scores`() async throws
    {
        let world = ConsoleWorld()
        let audiences = [try Audience.sample("com.example.Stadium")]
        for (key, start) in [("over", -7_200.0), ("later", 90_000), ("soon", 3_600), ("live", -60)] {
            try await world.rows.put(.sample(key, startsAt: Samples.now + start, audiences: audiences))
        }
        try await world.rows.accept(.update(#"{"home": 2}"#), for: "live")
        try await world.rows.accept(.end(#"{"home": 7}"#), for: "over")
        func keys(_ query: String) async throws -> [String] {
            try await world.get("/console/events" + query).body.matches(of: /<code>(\w+)<\/code>/).map { String($0.1) }
        }
        #expect(try await keys("") == ["live", "soon", "later", "over"])
        #expect(try await keys("?find=OO") == ["soon"])
        #expect(try await keys("?state=ended&bundleId=com.example.Stadium") == ["over"])
        #expect(try await keys("?cursor=2") == ["later", "over"])
        let page = try await world.get("/console/events").body
        #expect(page.contains("home 2") && page.contains("home 7"))
        #expect(try await world.get("/console", as: "operate").body.contains("home 2"))
    }
}
