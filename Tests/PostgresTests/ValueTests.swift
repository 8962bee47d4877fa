internal import FoundationEssentials
internal import Postgres
internal import Testing

@Suite(.timeLimit(.minutes(1)))
struct ValueTests {
    private func roundTrip<Value: PostgresEncodable & PostgresDecodable & Equatable>(
        _ value: Value, _ type: String
    ) async throws {
        let pool = try await TestCluster.pool(maximumConnections: 1)
        let rows = try await pool.query("select \(value)::\(PostgresQuery(unsafeSQL: type)) as v")
        #expect(try rows[0].decode(Value.self, "v") == value)
        await pool.close()
    }

    @Test(arguments: [0, 1, -1, Int.max, Int.min])
    func `int8 values are read as they were written`(value: Int) async throws {
        try await roundTrip(value, "bigint")
    }

    @Test(arguments: [Int32.min, 0, .max])
    func `int4 values are read as they were written`(value: Int32) async throws {
        try await roundTrip(value, "integer")
    }
    @Test(arguments: [Int16.min, 0, .max])
    func `int2 values are read as they were written`(value: Int16) async throws {
        try await roundTrip(value, "smallint")
    }

    @Test(arguments: [true, false])
    func `bool values are read as they were written`(value: Bool) async throws { try await roundTrip(value, "boolean") }

    @Test(arguments: [0.0, -1.5, .infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude])
    func `float8 values are read as they were written`(value: Double) async throws {
        try await roundTrip(value, "double precision")
    }

    @Test(arguments: ["", "plain", "'; drop table x; --", "ü ⚽️ \n\t\\", String(repeating: "x", count: 1 << 20)])
    func `text values are read as they were written`(value: String) async throws { try await roundTrip(value, "text") }

    @Test(arguments: [[], [0], Array(0...255)] as [[UInt8]])
    func `bytea values are read as they were written`(value: [UInt8]) async throws {
        try await roundTrip(value, "bytea")
    }

    @Test func `uuid values are read as they were written`() async throws { try await roundTrip(UUID(), "uuid") }

    @Test(arguments: [0, 946_684_800, 1_671_390_000.123456, 4_102_444_800])
    func `timestamps are read as they were written`(seconds: Double) async throws {
        let pool = try await TestCluster.pool(maximumConnections: 1)
        let date = Date(timeIntervalSince1970: seconds)
        let rows = try await pool.query("select \(date) as v, extract(epoch from \(date))::float8 as epoch")
        #expect(abs(try rows[0].decode(Date.self, "v").timeIntervalSince1970 - seconds) < 0.000_001)
        #expect(abs(try rows[0].decode(Double.self, "epoch") - seconds) < 0.000_001)
        await pool.close()
    }

    @Test func `json keeps its text, byte for byte`() async throws {
        try await roundTrip(PostgresJSON(text: #"{"b" : 1.50e3,"a":[12345678901234567890,"\u26bd"]}"#), "json")
    }

    @Test func `arrays are read as they were written`() async throws {
        try await roundTrip([[], [0], Array(0...255)].map { PostgresBytes($0) }, "bytea[]")
        try await roundTrip([PostgresBytes([1]), nil] as [PostgresBytes?], "bytea[]")
        try await roundTrip([1, -2, Int.max], "bigint[]")
        try await roundTrip([Int](), "bigint[]")
        try await roundTrip(["a", "", "'\"{},\\"], "text[]")
        try await roundTrip([1, nil, 3] as [Int?], "bigint[]")
        try await roundTrip(["a", nil] as [String?], "text[]")
        try await roundTrip([UUID(), UUID()], "uuid[]")
        try await roundTrip([true, false], "boolean[]")
    }

    @Test func `NULL is nil, and for a type without nil an error that names the column`() async throws {
        let pool = try await TestCluster.pool(maximumConnections: 1)
        let nothing: String? = nil
        let rows = try await pool.query("select \(nothing) as v, 1 as n")
        #expect(try rows[0].decode(String?.self, "v") == nil)
        #expect {
            try rows[0].decode(String.self, "v")
        } throws: { ($0 as? PostgresError)?.column == "v" }
        await pool.close()
    }

    @Test func `a column of another type, or one that does not exist, is an error`() async throws {
        let pool = try await TestCluster.pool(maximumConnections: 1)
        let rows = try await pool.query("select 'x'::text as t, 'infinity'::timestamptz as i, 70000 as big")
        for read in [
            { _ = try rows[0].decode(Int.self, "t") }, { _ = try rows[0].decode(Date.self, "i") },
            { _ = try rows[0].decode(Int16.self, "big") }, { _ = try rows[0].decode(Int.self, "nope") },
        ] as [() throws -> Void] {
            #expect { try read() } throws: { ($0 as? PostgresError)?.kind == .decoding }
        }
        await pool.close()
    }

    @Test func `rows are decoded as tuples by position, with the exact number of columns`() async throws {
        let pool = try await TestCluster.pool(maximumConnections: 1)
        let rows = try await pool.query("select n::bigint, 'row ' || n from generate_series(1, 3) n")
        #expect(rows.count == 3)
        let (number, text) = try rows[1].decode(Int.self, String.self)
        #expect(number == 2 && text == "row 2")
        #expect { try rows[0].decode(Int.self) } throws: { ($0 as? PostgresError)?.kind == .decoding }
        await pool.close()
    }
}
