internal import APNsWire
internal import Grandstand
internal import GrandstandTestKit
internal import PortFakes
internal import Testing

@testable internal import GrandstandAPI

/// `/v1/quotas`.
struct QuotaRouteTests {
    /// Two apps, in no order.
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
        #""available":4,"byState":{"creating":1,"active":95},"#,
        #""byStoragePolicy":{"noMessageStored":96,"mostRecentMessageStored":0},"#,
        #""apple":{"count":95,"at":"2026-11-21T20:45:00.000Z"},"unmanaged":0,"missing":0,"#,
        #""forecast":{"peak":96,"peakAt":"2026-11-21T20:45:00.000Z","exceedsAt":null},"#,
        #""level":"critical","alarm":null,"tokensRefused":null,"shrunkCalendars":[]}"#,
    ].joined()

    private static func names(_ answer: RouteWorld.Answer) -> [String] {
        answer.items.map { item in
            ["bundleId", "environment"].compactMap { item[$0] as? String }.joined(separator: " ")
        }
    }

    @Test func `a quota has all its numbers`() async throws {
        let answer = try await Self.world()("GET", "/v1/quotas", as: "gs_stadium")
        #expect(answer.text.contains(Self.shape), "\(answer.text)")
    }

    @Test func `refused tokens are an alarm with its numbers, its cause and what to do, also beside a graver one`()
        async throws
    {
        var quota = Sample.quota(Sample.stadium, .production)
        quota.tokensRefused = TokensRefused(
            app: AppEnvironment(bundleID: Sample.stadium, environment: .production), reason: "BadDeviceToken",
            refused: 20, answers: 35, since: RouteWorld.now)
        for (isCapabilityOff, alarm) in [(false, "tokens-refused"), (true, "capability-off")] {
            quota.isCapabilityOff = isCapabilityOff
            var world = RouteWorld()
            world.channels.count = { [quota] in [quota] }
            let answer = try await world("GET", "/v1/quotas", as: "gs_stadium")
            #expect(
                answer.text.contains(
                    #""alarm":"\#(alarm)","tokensRefused":{"reason":"BadDeviceToken","refused":20,"answers":35,"#
                        + #""since":"2026-11-21T20:45:00.000Z","cause":"tokens of builds that are signed for development "#
                        + #"are registered for production","remedy":"have the app register in the environment it is "#
                        + #"signed for (aps-environment): "#),
                "\(answer.text)")
        }
    }

    @Test func `a shrunk calendar is an alarm of each app it is of`() async throws {
        var quota = Sample.quota(Sample.stadium, .production)
        quota.isCapabilityOff = false
        quota.shrunkCalendars = [
            CalendarShrunk(
                calendar: "bl1", apps: [Sample.stadium, Sample.other], vanished: 20, future: 50, since: RouteWorld.now)
        ]
        var world = RouteWorld()
        world.channels.count = { [quota] in [quota] }
        let answer = try await world("GET", "/v1/quotas", as: "gs_pair_admin")
        #expect(answer.items.first?["alarm"] as? String == "calendar-shrunk")
        let shrunk = try #require((answer.items.first?["shrunkCalendars"] as? [[String: Any]])?.first)
        #expect(shrunk["calendar"] as? String == "bl1")
        #expect(shrunk["vanished"] as? Int == 20)
        // A calendar is visible to keys that reach all of its apps, as at its own path.
        let part = try await world("GET", "/v1/quotas", as: "gs_stadium")
        #expect(part.items.count == 1 && part.items.first?["alarm"] as? String == nil)
        #expect((part.items.first?["shrunkCalendars"] as? [Any])?.isEmpty == true)
    }

    @Test func `the contract lists the alarms a quota can have`() async throws {
        let words = Quota.Alarm.allCases.map(\.rawValue).joined(separator: ", ")
        #expect(try await Contract.text().contains("enum: [\(words), null]"))
    }

    @Test func `a key sees the quotas of what it reaches`() async throws {
        #expect(Self.names(try await Self.world()("GET", "/v1/quotas", as: "gs_operate")) == Self.names)
        #expect(
            Self.names(try await Self.world()("GET", "/v1/quotas", as: "gs_stadium")) == Self.names.suffix(2))
    }

    @Test(arguments: [1, 2, 3, 4])
    func `pages have each quota once, in order`(limit: Int) async throws {
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

    @Test(arguments: [
        Refusal("a page of nothing", "GET", "/v1/quotas?limit=0", pointers: ["limit"]),
        Refusal("a cursor that is none", "GET", "/v1/quotas?cursor=xyz", pointers: ["cursor"], hint: "nextCursor"),
        Refusal(
            "a cursor of no environment", "GET", "/v1/quotas?cursor=com.example.Stadium%2Fstaging",
            pointers: ["cursor"]),
    ])
    func `bad input is refused before anything is asked`(refusal: Refusal) async throws { try await refusal.check() }
}
