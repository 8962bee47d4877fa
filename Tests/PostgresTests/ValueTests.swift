internal import FoundationEssentials
internal import Postgres
internal import Testing

@Suite(.timeLimit(.minutes(20)))
struct ValueTests {
    private func roundTrip<Value: PostgresEncodable & PostgresDecodable & Equatable>(
        _ value: Value, _ type: String
    ) async throws {
        try await TestCluster.with(1) { pool in
            let rows = try await pool.query("select \(value)::\(PostgresQuery(unsafeSQL: type)) as v")
            #expect(try rows[0].decode(Value.self, "v") == value)
        }
    }

    @Test func `values are read as they were written`() async throws {
        for value in [0, 1, -1, Int.max, Int.min] { try await roundTrip(value, "bigint") }
        for value in [Int32.min, 0, .max] { try await roundTrip(value, "integer") }
        for value in [true, false] { try await roundTrip(value, "boolean") }
        for value in [0.0, -1.5, .infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude] {
            try await roundTrip(value, "double precision")
        }
        for text in ["", "plain", "'; drop table x; --", "ü ⚽️ \n\t\\", String(repeating: "x", count: 1 << 20)] {
            try await roundTrip(text, "text")
        }
        for bytes in [[], [0], Array(0...255)] as [[UInt8]] { try await roundTrip(bytes, "bytea") }
        try await roundTrip(UUID(), "uuid")
        // JSON keeps its text, byte for byte.
        let json = #"{"b" : 1.50e3,"a":[12345678901234567890,"\u26bd"]}"#
        try await roundTrip(PostgresJSON(bytes: Array(json.utf8)), "json")
    }

    @Test(arguments: [0, 946_684_800, 1_671_390_000.123456, 4_102_444_800])
    func `timestamps are read as they were written`(seconds: Double) async throws {
        try await TestCluster.with(1) { pool in
            let date = Date(timeIntervalSince1970: seconds)
            let rows = try await pool.query("select \(date) as v, extract(epoch from \(date))::float8 as epoch")
            #expect(abs(try rows[0].decode(Date.self, "v").timeIntervalSince1970 - seconds) < 0.000_001)
            #expect(abs(try rows[0].decode(Double.self, "epoch") - seconds) < 0.000_001)
        }
    }

    @Test func `arrays are read as they were written`() async throws {
        try await roundTrip([[], [0], Array(0...255)] as [[UInt8]], "bytea[]")
        try await roundTrip([[1], nil] as [[UInt8]?], "bytea[]")
        try await roundTrip([1, -2, Int.max], "bigint[]")
        try await roundTrip([Int](), "bigint[]")
        try await roundTrip(["a", "", "'\"{},\\"], "text[]")
        try await roundTrip([1, nil, 3] as [Int?], "bigint[]")
        try await roundTrip(["a", nil] as [String?], "text[]")
        try await roundTrip([UUID(), UUID()], "uuid[]")
        try await roundTrip([true, false], "boolean[]")
    }

    @Test func `NULL is nil, and for a type without nil an error that names the column`() async throws {
        try await TestCluster.with(1) { pool in
            let nothing: String? = nil
            let rows = try await pool.query("select \(nothing) as v, 1 as n")
            #expect(try rows[0].decode(String?.self, "v") == nil)
            #expect {
                try rows[0].decode(String.self, "v")
            } throws: { ($0 as? PostgresError)?.message.hasPrefix("column v:") ?? false }
        }
    }

    @Test func `a column of another type, or one that does not exist, is an error`() async throws {
        try await TestCluster.with(1) { pool in
            let rows = try await pool.query("select 'x'::text as t, 'infinity'::timestamptz as i, 3000000000 as big")
            for read in [
                { _ = try rows[0].decode(Int.self, "t") }, { _ = try rows[0].decode(Date.self, "i") },
                { _ = try rows[0].decode(Int32.self, "big") }, { _ = try rows[0].decode(Int.self, "nope") },
            ] as [() throws -> Void] {
                #expect { try read() } throws: { ($0 as? PostgresError)?.kind == .decoding }
            }
        }
    }

    @Test func `a value is read without a name only if its row has one column`() async throws {
        try await TestCluster.with(1) { pool in
            let rows = try await pool.query("select n::bigint from generate_series(1, 3) n")
            #expect(try rows.map { try $0.decode(Int.self) } == [1, 2, 3])
            let pairs = try await pool.query("select 1::bigint, 2::bigint")
            #expect { try pairs[0].decode(Int.self) } throws: { ($0 as? PostgresError)?.kind == .decoding }
        }
    }
}
