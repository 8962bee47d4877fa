internal import APNsWire
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import PortFakes
internal import Postgres
internal import Testing

@testable internal import GrandstandHTTP

/// Which key may see which page, and which apps its lists contain.
struct PageAccessTests {
    private static let place = "/console/apps/com.example.Stadium/production"
    private static let id = "11111111-2222-4333-8444-555555555555"
    /// Pages that require the scope `operate`. The pages in `organising` require the scope `organise`.
    private static let operating = [
        "/console/apps", "/console/apps/com.example.Stadium", place + "/channels", place + "/channels?managed=false",
        place + "/reconciliations", place + "/reconciliations/" + id, "/console/audit-log",
        place + "/reconciliations/run/recreate",
    ]
    private static let organising = [
        "/console/events", "/console/season", "/console/season/declare", "/console/season?season=bl1",
        "/console/events/derby/cancel", "/console/events/derby/reopen",
        "/console/events/derby",
    ]

    /// A world with one object of each kind. Its lists throw an error if a query has an `AppReach` other than `reach`.
    private static func open(
        _ database: Database, reach: AppReach = .all
    ) async throws -> ConsoleWorld {
        let samples = try Samples()
        let report = try samples.report()
        let id = samples.id
        try await database.query(
            """
            insert into audit_log (at, actor, action, bundle_id)
            values (\(Samples.now), 'grandstand', 'app.changed', 'com.example.Stadium'),
                (\(Samples.now), 'grandstand', 'app.changed', 'com.example.Other')
            """)
        var world = ConsoleWorld(database: database)
        world.apps.find = { $0 == samples.bundleID ? samples.registered() : nil }
        world.apps.list = { page, asked in
            guard asked == reach, page == PageRequest(limit: 50) else { throw Unasked() }
            return Page(items: [samples.registered()], nextCursor: nil)
        }
        world.events.list = { filter, page in
            guard filter.reach == reach, filter.bundleID == nil else { throw Unasked() }
            return Page(items: [samples.event()], nextCursor: nil)
        }
        world.events.find = { $0 == samples.key ? samples.event() : nil }
        world.outbox.list = { key, asked, page in
            guard key == samples.key, asked == reach, page == PageRequest(limit: 20) else { throw Unasked() }
            return Page(items: [samples.broadcast([samples.delivery(.accepted)])], nextCursor: nil)
        }
        world.channels.list = { app, _, _ in
            guard app == samples.app else { throw Unasked() }
            return Page(items: [samples.channel()], nextCursor: nil)
        }
        world.channels.unmanaged = { app, _ in
            guard app == samples.app else { throw Unasked() }
            return Page(items: [UnmanagedChannel(channelID: "abc==", firstSeenAt: Samples.now)], nextCursor: nil)
        }
        world.reconciliations.list = { app, page in
            guard app == samples.app, page == PageRequest(limit: 20) else { throw Unasked() }
            return Page(items: [report], nextCursor: nil)
        }
        world.reconciliations.read = { asked, app in asked == id && app == samples.app ? report : nil }
        world.channels.count = { [] }
        return world
    }

    @Test(arguments: operating)
    func `pages about apps and channels need a key that operates`(path: String) async throws {
        try await withDatabase { test in
            let world = try await Self.open(test.database)
            for secret in ["operate", "admin"] {
                #expect(try await world.get(path, as: secret).status == 200, "\(secret)")
            }
        }
        for secret in ["organise", "lookup"] {
            let answer = try await ConsoleWorld().get(path, as: secret)
            #expect(answer.status == 403, "\(secret)")
            #expect(answer.body.contains("needs a key with the scope operate; the key test holds \(secret)"))
        }
    }

    @Test(arguments: organising)
    func `pages about events need a key that organises`(path: String) async throws {
        try await withDatabase { test in
            let world = try await Self.open(test.database)
            for secret in ["organise", "admin"] {
                #expect(try await world.get(path, as: secret).status == 200, "\(secret)")
            }
        }
        for secret in ["operate", "lookup"] {
            let answer = try await ConsoleWorld().get(path, as: secret)
            #expect(answer.status == 403, "\(secret)")
            #expect(answer.body.contains("needs a key with the scope organise; the key test holds \(secret)"))
        }
    }

    @Test func `the overview is for operators, and organisers are sent to their events`() async throws {
        try await withConsole { world in
            world.channels.count = { [] }
            world.events.list = { _, _ in Page(items: [], nextCursor: nil) }
            let overview = try await world.get("/console", as: "operate")
            #expect(overview.status == 200)
        }
        #expect(try await ConsoleWorld().get("/console", as: "organise").location == "/console/events")
        let nothing = try await ConsoleWorld().get("/console", as: "lookup")
        #expect(nothing.status == 403)
        #expect(nothing.body.contains("operate or organise"))
    }

    @Test(arguments: operating + organising.dropLast())
    func `lists and pages for a key of one app contain only that app`(path: String) async throws {
        let samples = try Samples()
        try await withDatabase { test in
            let world = try await Self.open(test.database, reach: .only([samples.bundleID]))
            let answer = try await world.get(path, as: "operate-organise@")
            #expect(answer.status == 200, "\(answer.body)")
            #expect(answer.body.contains("for <bdi>com.example.Stadium</bdi> only"))
            #expect(!answer.body.contains("com.example.Other"))
        }
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

    @Test func `an event is refused while another app takes part, and shown when it belongs to this app alone`()
        async throws
    {
        let samples = try Samples()
        let other = try #require(BundleID(rawValue: "com.example.Other"))
        try await withDatabase { test in
            var world = try await Self.open(test.database, reach: .only([samples.bundleID]))
            #expect(try await world.get("/console/events/derby", as: "organise@").status == 200)
            world.events.find = { _ in
                var event = samples.event()
                event.specification.audiences[1].id.bundleID = other
                return event
            }
            let answer = try await world.get("/console/events/derby", as: "organise@")
            #expect(answer.status == 404)
            #expect(!answer.body.contains("com.example.Other"))
        }
    }

    @Test func `the overview shows a key of one app only that app's quotas`() async throws {
        let samples = try Samples()
        let other = try #require(BundleID(rawValue: "com.example.Other"))
        try await withConsole { world in
            world.events.list = { _, _ in Page(items: [], nextCursor: nil) }
            world.channels.count = {
                var foreign = samples.quota()
                foreign.bundleID = other
                return [foreign, samples.quota()]
            }
            #expect(try await world.get("/console", as: "operate").body.contains("com.example.Other"))
            let bound = try await world.get("/console", as: "operate@")
            #expect(bound.body.contains("com.example.Stadium"))
            #expect(!bound.body.contains("com.example.Other"))
        }
    }
}
