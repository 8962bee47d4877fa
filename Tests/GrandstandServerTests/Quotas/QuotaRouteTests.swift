internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import JSON
internal import Testing

@testable internal import GrandstandServer

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
        quota.keyRefused = Quota.KeyRefused(
            credentials: Credentials(teamID: "TEAM123456", keyID: "KEY1234567"),
            refusal: KeyRefusal(reason: .invalidProviderToken, since: RouteWorld.now))
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
