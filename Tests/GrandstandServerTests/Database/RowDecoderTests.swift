internal import FoundationEssentials
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

struct RowDecoderTests {
    private struct Sample: Decodable, Equatable {
        struct Part: Decodable, Equatable {
            var status: Int?
            var reason: String?
        }

        var id: String
        var number: String
        var at: Date
        var until: Date?
        var state: Contract.KeyState
        var scopes: [Contract.Scope]?
        var counts: [Int]
        var raw: RawJSON
        var tree: [String: [Int]]?
        var part: Part?
    }

    private static let rest: PostgresQuery = """
        7::bigint::text as number, to_timestamp(1.5) as at, array['lookup', 'brand-new'] as scopes,
        array[1, 2]::bigint[] as counts, '{"b": 1.50,"a":"\\u00e9"}'::json as raw, '{"x": [1, 2]}'::json as tree
        """

    private func read(_ columns: PostgresQuery) async throws -> Sample {
        try await withDatabase { try #require(try await $0.pool.query("select \(columns), \(Self.rest)").first).read() }
    }

    @Test("a row becomes a value: words, times, lists, JSON byte for byte, and objects of several columns")
    func everyKind() async throws {
        let sample = try await read(
            """
            '11111111-2222-4333-8444-ABCDEFABCDEF'::uuid as id, null::timestamptz as until, 'active' as state,
            null::integer as "part.status", 'gone' as "part.reason"
            """)
        #expect(
            sample
                == Sample(
                    id: "11111111-2222-4333-8444-abcdefabcdef", number: "7", at: Date(timeIntervalSince1970: 1.5),
                    state: .active, scopes: [.lookup, .unknown("brand-new")], counts: [1, 2],
                    raw: try RawJSON(json: #"{"b": 1.50,"a":"\u00e9"}"#), tree: ["x": [1, 2]],
                    part: .init(reason: "gone")))
    }

    @Test("an object of which all columns are NULL is left out")
    func absent() async throws {
        let sample = try await read(
            """
            'x' as id, null::timestamptz as until, 'active' as state, null::integer as "part.status",
            null::text as "part.reason"
            """)
        #expect(sample.part == nil)
    }

    @Test(
        "a column that is missing, NULL or of another type is an error",
        arguments: [
            "'x' as id, 'active' as state, 1 as \"part.status\", 'r' as \"part.reason\"",
            "'x' as id, null::timestamptz as until, 'active' as state",
            "null::text as id, null::timestamptz as until, 'active' as state, null::json as part",
            "'x' as id, 7 as until, 'active' as state, null::json as part",
        ])
    func unfitting(_ columns: String) async throws {
        await #expect(throws: PostgresError.self) { try await read(PostgresQuery(unsafeSQL: columns)) }
    }
}
