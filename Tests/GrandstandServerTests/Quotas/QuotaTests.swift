internal import APNsWire
internal import Foundation
internal import GrandstandContract
internal import GrandstandTestKit
internal import HTTPTypes
internal import JSON
internal import Postgres
internal import Testing

@testable internal import Grandstand
@testable internal import GrandstandServer

struct QuotaTests {
    @Test(arguments: [
        (79, Contract.QuotaLevel.ok), (80, .warning), (94, .warning), (95, .critical), (100, .critical),
    ])
    func `the quota's levels change at 80 and 95 percent of the limit`(used: Int, level: Contract.QuotaLevel) throws {
        let quota = Quota(
            bundleID: try #require(BundleID(rawValue: "com.example")), environment: .production, limit: 100,
            byState: [.active: used - 1, .creating: 1, .deleted: 500])
        #expect(quota.level == level)
        #expect(quota.available == 100 - used)
    }
}

/// Samples of quotas in the database.
@Suite(.timeLimit(.minutes(20)))
struct QuotaHistoryTests {
    private static let noon = Date(timeIntervalSince1970: 1_795_262_400)

    private static func at(_ minutes: Double) -> Date { noon.addingTimeInterval(60 * minutes) }

    private static func quota(_ app: String, used: Int) throws -> Quota {
        Quota(
            bundleID: try #require(BundleID(rawValue: app)), environment: .production, limit: 100,
            byState: [.active: used])
    }

    private static func history(_ step: Int, _ from: Double = -10_000_000, _ to: Double = 10_000_000) -> HistoryQuery {
        HistoryQuery(from: at(from), to: at(to), step: step)
    }

    /// A store with two apps.
    private static func with(_ body: (ChannelStore, StoreWorld) async throws -> Void) async throws {
        try await withStores { stores in
            for app in ["com.example.Stadium", "com.example.Other"] {
                _ = try await stores.apps.put(.sample(app, at: stores.now))
            }
            try await body(stores.channels, stores)
        }
    }

    @Test func `of the samples that replicas take at the same time one stays`() async throws {
        try await Self.with { history, stores in
            // If an app was deleted meanwhile, the samples of the other apps are still stored.
            let quotas = [try Self.quota("com.example.Gone", used: 1), try Self.quota("com.example.Stadium", used: 3)]
            _ = try await concurrently(4) { _ in try await history.keepSamples(of: quotas, at: Self.noon) }
            #expect(try await history.samples(Self.history(300)).map(\.used) == [3])
        }
    }

    @Test func `a longer step has the newest numbers, the highest peak and all creations`() async throws {
        try await Self.with { history, stores in
            for (minutes, used) in [(5.0, 3), (10, 9), (15, 4), (20, 1)] where minutes != 15 {
                for number in 0..<Int(minutes / 5) {
                    try await stores.pool.query(
                        """
                        insert into audit_log (at, actor, action, bundle_id, environment) values
                            (\(Self.at(minutes - 1)), 'server', \(number == 0 ? "channel.created" : "channel.deleted")
                                ::text::audit_action, 'com.example.Stadium', 'production')
                        """)
                }
                try await history.keepSamples(
                    of: [try Self.quota("com.example.Stadium", used: used)], at: Self.at(minutes))
            }
            let fine = try await history.samples(Self.history(300))
            #expect(fine.map(\.at) == [5, 10, 20].map(Self.at))
            #expect(fine.map(\.created) == [1, 1, 1] && fine.map(\.deleted) == [0, 1, 3])
            let ten = try await history.samples(Self.history(600))
            #expect(ten.map(\.at) == [10, 20].map(Self.at))
            #expect(ten.map(\.used) == [9, 1] && ten.map(\.peak) == [9, 1] && ten.map(\.created) == [2, 1])
            #expect(try await history.samples(Self.history(300, 5, 10)).map(\.at) == [Self.at(10)])
            // Until the hour is over, the values of the hour and of its day come from the five-minute samples.
            for step in [3_600, 86_400] {
                let open = try await history.samples(Self.history(step))
                #expect(open.map(\.used) == [1] && open.map(\.peak) == [9])
                #expect(open.map(\.created) == [3] && open.map(\.deleted) == [4])
            }
            // A sample taken on the hour is also stored as the sample of the hour. It counts all creations and
            // deletions of the hour, also those for which a five-minute sample is missing.
            try await history.keepSamples(of: [try Self.quota("com.example.Stadium", used: 2)], at: Self.at(60))
            let hour = try #require(try await history.samples(Self.history(3_600)).first)
            #expect(hour.used == 2 && hour.peak == 9 && hour.created == 3 && hour.deleted == 4)
        }
    }

    @Test func `five-minute samples are kept for two days, those of an hour for 400`() async throws {
        try await Self.with { history, stores in
            let quota = try Self.quota("com.example.Stadium", used: 1)
            try await history.keepSamples(of: [quota], at: Self.noon)
            let days = { (count: Double) in Self.noon.addingTimeInterval(86_400 * count) }
            try await history.keepSamples(of: [quota], at: days(2).addingTimeInterval(-300))
            #expect(try await history.samples(Self.history(300)).count == 2)
            try await history.keepSamples(of: [quota], at: days(2))
            #expect(try await history.samples(Self.history(300)).map(\.at).first == days(2).addingTimeInterval(-300))
            #expect(try await history.samples(Self.history(3_600)).map(\.at) == [Self.noon, days(2)])
            try await history.keepSamples(of: [quota], at: days(400))
            #expect(try await history.samples(Self.history(3_600)).map(\.at) == [days(2), days(400)])
        }
    }
}

/// `/v1/quotas`.
@Suite(.database)
struct QuotaRouteTests {
    /// Two apps. One has a channel, and one that is being created.
    private static func world() async throws -> RouteWorld {
        let world = RouteWorld()
        for app in [Sample.stadium, Sample.other] {
            var app = Sample.app(app)
            app.draft.channelLimit = 2
            _ = try await world.rows.apps.put(app, by: .server)
        }
        try await world.rows.adopt(of: "com.example.Stadium")
        _ = try await world.rows.reserve("com.example.Stadium")
        return world
    }

    private static let names = [
        "com.example.Other development", "com.example.Other production", "com.example.Stadium development",
        "com.example.Stadium production",
    ]

    private static let shape = [
        #"{"bundleId":"com.example.Stadium","environment":"production","limit":2,"used":1,"reserved":1,"#,
        #""available":0,"byState":{"active":1,"creating":1},"#,
        #""byStoragePolicy":{"mostRecentMessageStored":1,"noMessageStored":1},"#,
        #""apple":null,"unmanaged":0,"missing":0,"#,
        #""forecast":{"peak":2,"peakAt":"2026-11-21T20:45:00.000Z","exceedsAt":null},"#,
        #""level":"critical","alarm":null,"keyRefused":null,"throttled":null,"devicesThrottled":null}"#,
    ].joined()

    private static func names(_ answer: RouteWorld.Answer) -> [String] {
        answer.items.map { item in
            ["bundleId", "environment"].compactMap { item[$0] as? String }.joined(separator: " ")
        }
    }

    @Test func `a quota has all its numbers, and a key sees those of its apps`() async throws {
        let answer = try await Self.world()("GET", "/v1/quotas", as: "gs_stadium")
        #expect(answer.text.contains(Self.shape), "\(answer.text)")
        #expect(Self.names(answer) == Self.names.suffix(2))
    }

    @Test func `a throttled app and a refused key are reported`() {
        var quota = Quota(bundleID: Sample.stadium, environment: .production, limit: 100)
        quota.throttles = [
            ThrottledApp(
                app: AppEnvironment(bundleID: Sample.stadium, environment: .production), api: .broadcast,
                since: RouteWorld.now, lanesWaiting: 3, oldestSeconds: 0.84)
        ]
        quota.isCapabilityOff = true
        quota.keyRefused = Contract.KeyRefused(
            teamId: "TEAM123456", keyId: "KEY1234567", reason: "InvalidProviderToken", since: RouteWorld.now)
        let text = String(decoding: JSONWriter.text(Contract.Quota(quota)), as: UTF8.self)
        #expect(
            text.hasSuffix(
                #""alarm":"key-refused","keyRefused":{"teamId":"TEAM123456","keyId":"KEY1234567","#
                    + #""reason":"InvalidProviderToken","since":"2026-11-21T20:45:00.000Z"},"#
                    + #""throttled":{"since":"2026-11-21T20:45:00.000Z","lanesWaiting":3,"oldestSeconds":0.8},"#
                    + #""devicesThrottled":null}"#), "\(text)")
    }

    @Test(arguments: [1, 3, 4])
    func `pages contain each quota once, in order`(limit: Int) async throws {
        let world = try await Self.world()
        var seen: [[String]] = []
        var query = "?limit=\(limit)"
        while seen.count < 5 {
            let answer = try await world("GET", "/v1/quotas" + query)
            seen.append(Self.names(answer))
            guard let cursor = answer.json["nextCursor"] as? String else { break }
            query = "?limit=\(limit)&cursor=\(PercentEncoding.encode(cursor))"
        }
        #expect(seen.flatMap(\.self) == Self.names)
        #expect(seen.dropLast().allSatisfy { $0.count == limit })
    }
}

/// `/v1/quotas/history`.
@Suite(.database)
struct QuotaHistoryRouteTests {
    /// A world with two samples of each of two apps, and that of their hour.
    private static func withSamples(_ body: (RouteWorld) async throws -> Void) async throws {
        let world = RouteWorld()
        for app in [Sample.stadium, Sample.other] {
            _ = try await world.rows.apps.put(.sample(app.rawValue, at: RouteWorld.now), by: .server)
        }
        try await world.database.query(
            """
            insert into quota_samples
            select a.bundle_id, 'production', step, \(RouteWorld.now) + minutes * interval '1 minute', 5, 1, 7, 100, 3, 2
            from apps a, (values (300, 0), (300, -5), (3600, 15)) as s(step, minutes)
            """)
        try await body(world)
    }

    @Test func `each step of the quota history has its numbers, in JSON and in CSV`() async throws {
        try await Self.withSamples { world in
            let answer = try await world("GET", "/v1/quotas/history", as: "gs_operate")
            #expect(answer.status == 200)
            #expect(answer.json["step"] as? Int == 300)
            let first = [
                #"{"bundleId":"com.example.Stadium","environment":"production","at":"2026-11-21T20:40:00.000Z","#,
                #""used":5,"reserved":1,"peak":7,"limit":100,"created":3,"deleted":2}"#,
            ].joined()
            #expect(answer.text.contains(first), "\(answer.text)")
            let csv = try await world(
                "GET", "/v1/quotas/history", headers: ["Accept": "application/xml;q=0.5, text/csv"], as: "gs_operate")
            #expect(csv.headers[.contentType]?.hasPrefix("text/csv") == true && csv.headers[.vary] == "Accept")
            #expect(
                csv.text == """
                    bundleId,environment,at,used,reserved,peak,limit,created,deleted\r
                    com.example.Other,production,2026-11-21T20:40:00.000Z,5,1,7,100,3,2\r
                    com.example.Other,production,2026-11-21T20:45:00.000Z,5,1,7,100,3,2\r
                    com.example.Stadium,production,2026-11-21T20:40:00.000Z,5,1,7,100,3,2\r
                    com.example.Stadium,production,2026-11-21T20:45:00.000Z,5,1,7,100,3,2\r

                    """)
        }
    }

    @Test func `the quota history is filtered by its query and by the key's apps, and by default covers the last day`()
        async throws
    {
        try await Self.withSamples { world in
            #expect(try await world("GET", "/v1/quotas/history").items.count == 4)
            let some = try await world(
                "GET",
                "/v1/quotas/history?bundleId=com.example.STADIUM&environment=production&step=1d"
                    + "&from=2026-01-01T00:00:00Z&to=2026-11-21T20:50:00Z")
            #expect(some.json["step"] as? Int == 86_400)
            #expect(some.items.map { $0["bundleId"] as? String } == ["com.example.Stadium"])
            let none = try await world("GET", "/v1/quotas/history?environment=development")
            #expect(none.status == 200 && none.items.isEmpty)
            for (text, seconds) in [("300", 300), ("600s", 600), ("5m", 300), ("1h", 3_600), ("366d", 31_622_400)] {
                let answer = try await world("GET", "/v1/quotas/history?step=\(text)")
                #expect(answer.json["step"] as? Int == seconds, "\(text)")
            }
            // For a week the default step is one hour, because five-minute steps would be too many. For most of a year
            // it is one day.
            let week = try await world("GET", "/v1/quotas/history?from=2026-11-14T00:00:00Z")
            #expect(week.json["step"] as? Int == 3_600)
            let year = try await world("GET", "/v1/quotas/history?from=2026-01-01T00:00:00Z")
            #expect(year.json["step"] as? Int == 86_400)
            let own = try await world("GET", "/v1/quotas/history", as: "gs_stadium")
            #expect(own.items.map { $0["bundleId"] as? String } == ["com.example.Stadium", "com.example.Stadium"])
            let other = "/v1/quotas/history?bundleId=com.example.Other"
            #expect(try await world("GET", other, as: "gs_stadium").detail.contains("com.example.Stadium only"))
        }
    }

    @Test func `too many samples are refused and not cut`() async throws {
        try await Self.withSamples { world in
            try await world.database.query(
                """
                insert into quota_samples
                select bundle_id, 'production', 300, \(RouteWorld.now) - n * interval '5 minutes', 5, 1, 7, 100, 3, 2
                from apps, generate_series(2, 5000) n
                """)
            let answer = try await world("GET", "/v1/quotas/history?step=5m&from=2026-11-01T00:00:00Z")
            #expect(answer.pointers == ["step"])
            #expect(answer.text.contains("one app"))
        }
    }
}
