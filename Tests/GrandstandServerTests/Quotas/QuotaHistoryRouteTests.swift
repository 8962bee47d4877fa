internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import HTTPTypes
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

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

    @Test func `the quota history is filtered by its query, and by default covers the last day`() async throws {
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
        }
    }

    @Test(arguments: [
        ("*/*", false), ("TEXT/CSV; header=present", true), ("text/csv;q=0.9, application/json;q=0.8", true),
        ("text/csv;q=0, */*", false), ("text/csv;q=0.1, text/*, */*;q=0.05", true), ("text/csv;q=x", false),
    ]) func `the format with the higher weight is preferred`(accept: String, isCSV: Bool) {
        let ranges = MediaRanges(accept)
        #expect((ranges.weight(of: "text/csv") > ranges.weight(of: "application/json")) == isCSV)
    }

    @Test func `a key of one app sees its own quota history`() async throws {
        try await Self.withSamples { world in
            let own = try await world("GET", "/v1/quotas/history", as: "gs_stadium")
            #expect(own.items.map { $0["bundleId"] as? String } == ["com.example.Stadium", "com.example.Stadium"])
            let other = "/v1/quotas/history?bundleId=com.example.Other"
            #expect(try await world("GET", other, as: "gs_stadium").slug == "forbidden")
        }
    }

    @Test(arguments: [
        ("step=7", "step"), ("step=90000000000000000000d", "step"), ("step=367d", "step"),
        ("from=2026-11-21T20:45:00Z&to=2026-11-21T20:45:00Z", "from"), ("from=2020-01-01T00:00:00Z&step=5m", "step"),
    ])
    func `invalid or endless periods are refused before anything is read`(
        query: String, pointer: String
    ) async throws {
        let answer = try await RouteWorld()("GET", "/v1/quotas/history?\(query)")
        #expect(answer.status == 422)
        #expect(answer.pointers == [pointer])
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
            #expect(answer.detail.contains("one app"))
        }
    }
}
