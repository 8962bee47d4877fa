internal import APNsWire
internal import Foundation
internal import Grandstand
internal import HTTPTypes
internal import PortFakes
internal import Testing

@testable internal import GrandstandHTTP

/// `/v1/quotas/history`.
struct QuotaHistoryRouteTests {
    private static func sample(_ minutes: Double) -> QuotaSample {
        QuotaSample(
            bundleID: Sample.stadium, environment: .production, at: RouteWorld.now.addingTimeInterval(60 * minutes),
            used: 5, reserved: 1, peak: 7, limit: 100, created: 3, deleted: 2)
    }

    /// Answers only the expected question.
    private static func world(_ wanted: @escaping @Sendable (QuotaHistory) -> Bool = { _ in true }) -> RouteWorld {
        var world = RouteWorld()
        world.quotaHistory.list = { history in
            guard wanted(history) else { throw Unasked() }
            return [sample(-5), sample(0)]
        }
        return world
    }

    @Test func `a step has its numbers, in JSON and in CSV`() async throws {
        let answer = try await Self.world()("GET", "/v1/quotas/history", as: "gs_operate")
        #expect(answer.status == 200)
        #expect(answer.json["step"] as? Int == 300)
        let first = [
            #"{"bundleId":"com.example.Stadium","environment":"production","at":"2026-11-21T20:40:00.000Z","#,
            #""used":5,"reserved":1,"peak":7,"limit":100,"created":3,"deleted":2}"#,
        ].joined()
        #expect(answer.text.contains(first), "\(answer.text)")
        let csv = try await Self.world()(
            "GET", "/v1/quotas/history", headers: ["Accept": "application/xml;q=0.5, text/csv"], as: "gs_operate")
        #expect(csv.headers[.contentType]?.hasPrefix("text/csv") == true)
        #expect(
            csv.text == """
                bundleId,environment,at,used,reserved,peak,limit,created,deleted\r
                com.example.Stadium,production,2026-11-21T20:40:00.000Z,5,1,7,100,3,2\r
                com.example.Stadium,production,2026-11-21T20:45:00.000Z,5,1,7,100,3,2\r

                """)
    }

    @Test(arguments: [
        ("", false), ("*/*", false), ("text/csv", true), ("TEXT/CSV; header=present", true), ("text/*", true),
        ("text/csv, application/json", false), ("text/csv;q=0.9, application/json;q=0.8", true),
        ("text/csv;q=0.5, application/json", false), ("application/json, text/csv; q=0.2", false),
        ("text/csv;q=0, */*", false), ("text/csv, */*;q=0.1", true), ("text/csv;q=0.1, text/*, */*;q=0.05", true),
        ("text/csv;q=x", false),
    ]) func `the preferred format is sent, and caches learn that it depends on Accept`(accept: String, isCSV: Bool)
        async throws
    {
        let answer = try await Self.world()("GET", "/v1/quotas/history", headers: ["Accept": accept], as: "gs_operate")
        #expect(answer.headers[.contentType]?.hasPrefix(isCSV ? "text/csv" : "application/json") == true)
        #expect(answer.headers[.vary] == "Accept")
    }

    @Test func `the query sets the period, which is the last day by default`() async throws {
        let now = RouteWorld.now
        let day = Self.world {
            $0 == QuotaHistory(from: now.addingTimeInterval(-86_400), to: now, step: 300)
        }
        #expect(try await day("GET", "/v1/quotas/history").status == 200)
        let season = Self.world {
            $0.step == 86_400 && $0.bundleID == Sample.stadium && $0.environment == .development
                && $0.to == now.addingTimeInterval(-900)
        }
        let path =
            "/v1/quotas/history?bundleId=com.example.Stadium&environment=development&step=1d"
            + "&from=2026-01-01T00:00:00Z&to=2026-11-21T20:30:00Z"
        #expect(try await season("GET", path).status == 200)
        for (text, seconds) in [("300", 300), ("600s", 600), ("5m", 300), ("1h", 3_600), ("366d", 31_622_400)] {
            let answer = try await Self.world { $0.step == seconds }("GET", "/v1/quotas/history?step=\(text)")
            #expect(answer.status == 200, "\(text)")
        }
        // Older samples are by the hour, and years by the day.
        let week = Self.world { $0.step == 3_600 }
        #expect(try await week("GET", "/v1/quotas/history?from=2026-11-14T00:00:00Z").status == 200)
        let year = Self.world { $0.step == 86_400 }
        #expect(try await year("GET", "/v1/quotas/history?from=2026-01-01T00:00:00Z").status == 200)
    }

    @Test func `a key of one app sees its own samples, and a key without the scope sees none`() async throws {
        let world = Self.world { $0.reach == .only([Sample.stadium]) }
        #expect(try await world("GET", "/v1/quotas/history", as: "gs_stadium").status == 200)
        let other = "/v1/quotas/history?bundleId=com.example.Other"
        #expect(try await world("GET", other, as: "gs_stadium").slug == "forbidden")
        for secret in ["gs_organise", "gs_lookup"] {
            #expect(try await world("GET", "/v1/quotas/history", as: secret).slug == "forbidden")
        }
    }

    @Test(arguments: [
        ("step=7", "step"), ("step=-5m", "step"), ("step=0", "step"), ("step=90000000000000000000d", "step"),
        ("step=367d", "step"), ("from=2026-11-21T20:45:00Z&to=2026-11-21T20:45:00Z", "from"),
        ("from=2020-01-01T00:00:00Z&step=5m", "step"), ("from=yesterday", "from"),
        ("environment=staging", "environment"),
        ("bundleId=%21", "bundleId"),
    ])
    func `invalid or endless periods are refused before anything is read`(
        query: String, pointer: String
    ) async throws {
        let answer = try await RouteWorld()("GET", "/v1/quotas/history?\(query)")
        #expect(answer.status == 422)
        #expect(answer.pointers == [pointer])
    }

    @Test func `too many samples are refused and not cut`() async throws {
        var world = RouteWorld()
        world.quotaHistory.list = { _ in (0...QuotaHistory.maximum).map { Self.sample(Double($0)) } }
        let answer = try await world("GET", "/v1/quotas/history")
        #expect(answer.pointers == ["step"])
        #expect(answer.detail.contains("one app"))
    }
}
