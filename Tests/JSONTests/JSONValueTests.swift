internal import JSON
internal import Testing

struct JSONValueTests {
    private static func integer(_ text: String) throws -> Int? {
        var parser = JSONParser(Array(text.utf8))
        return try parser.parse().integer
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("0.0", 0), ("0e-99999999999", 0), ("0e99999999999999999999", 0), ("-0.00E+7", 0),
            ("5.0", 5), ("-5e0", -5), ("50e-1", 5), ("0.5e1", 5), ("1200.00e-2", 12),
            ("1e18", 1_000_000_000_000_000_000),
            ("9007199254740993.0", 9_007_199_254_740_993), ("9223372036854775807.0", .max),
            ("-9223372036854775.808e3", .min),
        ])
    func `a whole number is read exactly, however it is written`(text: String, number: Int) throws {
        #expect(try Self.integer(text) == number)
    }

    @Test(
        arguments: [
            "0.5", "5e-1", "1e-400", "1e-99999999999", "-1e-99999999999999999999", "1.00000000000000000001",
            "9223372036854775808.0", "1e19", "1e400", "1e9223372036854775807", "0.01e-9223372036854775808",
        ])
    func `a number that is not whole, or too large, is no integer`(text: String) throws {
        #expect(try Self.integer(text) == nil)
    }
}
