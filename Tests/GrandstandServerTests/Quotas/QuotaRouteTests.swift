internal import APNsWire
internal import Grandstand
internal import Testing

@testable internal import GrandstandServer

/// `/v1/quotas`.
struct QuotaRouteTests {
    /// Two apps, not sorted.
    private static func world() -> RouteWorld {
        var world = RouteWorld()
        world.channels.count = {
            [
                Sample.quota(Sample.stadium, .production), Sample.quota(Sample.other, .production),
                Sample.quota(Sample.other, .development), Sample.quota(Sample.stadium, .development),
            ]
        }
        return world
    }

    private static let names = [
        "com.example.Other development", "com.example.Other production", "com.example.Stadium development",
        "com.example.Stadium production",
    ]

    private static let shape = [
        #"{"bundleId":"com.example.Stadium","environment":"production","limit":100,"used":95,"reserved":1,"#,
        #""available":4,"byState":{"active":95,"creating":1},"#,
        #""byStoragePolicy":{"mostRecentMessageStored":0,"noMessageStored":96},"#,
        #""apple":{"count":95,"at":"2026-11-21T20:45:00.000Z"},"unmanaged":0,"missing":0,"#,
        #""forecast":{"peak":96,"peakAt":"2026-11-21T20:45:00.000Z","exceedsAt":null},"#,
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

    @Test func `a throttled app and a refused key are reported`() async throws {
        var quota = Sample.quota(Sample.stadium, .production)
        quota.throttles = [
            Throttle(
                app: AppEnvironment(bundleID: Sample.stadium, environment: .production), api: .broadcast,
                since: RouteWorld.now, lanesWaiting: 3, oldestSeconds: 0.84)
        ]
        var world = RouteWorld()
        quota.isCapabilityOff = true
        quota.keyRefused = Quota.KeyRefused(
            credentials: Credentials(teamID: "TEAM123456", keyID: "KEY1234567"),
            refusal: KeyRefusal(reason: .invalidProviderToken, since: RouteWorld.now))
        world.channels.count = { [quota] in [quota] }
        let answer = try await world("GET", "/v1/quotas", as: "gs_stadium")
        #expect(
            answer.text.contains(
                #""alarm":"key-refused","keyRefused":{"teamId":"TEAM123456","keyId":"KEY1234567","#
                    + #""reason":"InvalidProviderToken","since":"2026-11-21T20:45:00.000Z"},"throttled":{"since":"2026-11-21T20:45:00.000Z","lanesWaiting":3,"#
                    + #""oldestSeconds":0.8},"devicesThrottled":null}"#), "\(answer.text)")
    }

    @Test(arguments: [1, 3, 4])
    func `pages contain each quota once, in order`(limit: Int) async throws {
        var seen: [[String]] = []
        var query = "?limit=\(limit)"
        while seen.count < 5 {
            let answer = try await Self.world()("GET", "/v1/quotas" + query)
            seen.append(Self.names(answer))
            guard let cursor = answer.json["nextCursor"] as? String else { break }
            query = "?limit=\(limit)&cursor=\(PercentEncoding.encode(cursor))"
        }
        #expect(seen.flatMap(\.self) == Self.names)
        #expect(seen.dropLast().allSatisfy { $0.count == limit })
    }
}
