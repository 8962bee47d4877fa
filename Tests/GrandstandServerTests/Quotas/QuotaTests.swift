internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import JSON
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

struct QuotaTests {
    @Test(arguments: [
        (79, Contract.QuotaLevel.ok), (80, .warning), (94, .warning), (95, .critical), (100, .critical),
    ])
    func `the quota's levels change at 80 and 95 percent of the limit`(used: Int, level: Contract.QuotaLevel) throws {
        let quota = Quota(
            bundleID: try #require(BundleID(rawValue: "com.example")), environment: .production, limit: 100,
            byState: [.active: used - 1, .creating: 1, .deleted: 500], byStoragePolicy: [:],
            forecast: Forecast(spans: [], limit: 100, now: RouteWorld.now))
        #expect(quota.level == level)
        #expect(quota.available == 100 - used)
    }

    @Test func `the forecast gives an event that starts within the hour the place of one that is over`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(channelLimit: 1))
            try await stores.open("over")
            try await stores.cancel("over")
            try await stores.align()
            for (opens, isTooEarly) in [(600.0, false), (599, true)] {
                let opensAt = stores.now + opens
                try await stores.put(.sample("next", startsAt: stores.now + 3_600, channelsOpenAt: opensAt))
                #expect(try await stores.quota().forecast.exceedsAt == (isTooEarly ? opensAt : nil))
            }
        }
    }
}

/// Samples of quotas in the database.
@Suite(.timeLimit(.minutes(20)))
struct QuotaHistoryTests {
    private static let noon = Date(timeIntervalSince1970: 1_795_262_400)

    private static func at(_ minutes: Double) -> Date { noon.addingTimeInterval(60 * minutes) }

    private static func quota(_ app: String, used: Int, limit: Int = 100) throws -> Quota {
        Quota(
            bundleID: try #require(BundleID(rawValue: app)), environment: .production, limit: limit,
            byState: [.active: used], byStoragePolicy: [:],
            forecast: Forecast(peak: used, peakAt: noon, exceedsAt: nil))
    }

    private static func history(_ step: Int, _ from: Double = -10_000_000, _ to: Double = 10_000_000) -> QuotaHistory {
        QuotaHistory(from: at(from), to: at(to), step: step)
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
        var quota = Sample.quota(Sample.stadium, .production)
        quota.throttles = [
            Throttle(
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
