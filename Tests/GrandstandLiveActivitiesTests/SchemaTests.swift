internal import Foundation
internal import Grandstand
internal import GrandstandLiveActivities
internal import JSON
internal import PhoneFakes
internal import Testing

@testable internal import StadiumShared

/// The schema of a type accepts exactly what `JSONDecoder` decodes into it.
struct SchemaTests {
    private typealias Recorded = GrandstandLiveActivities.ContentSchema

    // MARK: Types

    enum Period: String, Decodable, CaseIterable { case first, second = "2nd", fullTime }
    enum Half: Int, Decodable, CaseIterable { case one = 1, two = 2 }
    enum Rate: Double, Decodable, CaseIterable { case slow = 0.5, fast = 5 }
    enum Only: String, Decodable, CaseIterable { case one }
    struct Team: RawRepresentable, Decodable { var rawValue: String }
    struct Nothing: Decodable {}
    struct Score: Decodable { var home: Int; var away: UInt8; var at: Date? }
    struct Keys: Decodable {
        var name: String
        var id: UUID?
        enum CodingKeys: String, CodingKey { case name = "n/a~me"; case id = "é" }
    }
    /// A member that is missing, null, or a number, read without `decodeIfPresent`.
    struct Careful: Decodable {
        var minute: Int??
        enum CodingKeys: String, CodingKey { case minute }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            guard container.contains(.minute) else { return }
            let isNull = try container.decodeNil(forKey: .minute)
            minute = .some(try isNull ? nil : container.decode(Int.self, forKey: .minute))
        }
    }
    struct Tree: Decodable { var name: String; var children: [Tree]? }
    struct Minute: Decodable {
        var minute: Int
        init(from decoder: any Decoder) throws { minute = try decoder.singleValueContainer().decode(Int.self) }
    }
    struct Flat: Decodable {
        var name: String
        enum Outer: String, CodingKey { case team }
        enum Inner: String, CodingKey { case name }
        init(from decoder: any Decoder) throws {
            let team = try decoder.container(keyedBy: Outer.self).nestedContainer(keyedBy: Inner.self, forKey: .team)
            name = try team.decode(String.self, forKey: .name)
        }
    }
    struct Two<A: Decodable, B: Decodable>: Decodable { var a: A; var b: B? }
    struct Three<A: Decodable, B: Decodable, C: Decodable>: Decodable {
        var one: A; var two: [B]; var three: [String: C]?
    }

    private static var simple: [any Decodable.Type] {
        [
            Int.self, Int8.self, UInt16.self, Int32.self, UInt64.self, Double.self, Float.self, Bool.self, String.self,
            Date.self, UUID.self, URL.self, Decimal.self, Period.self, Half.self, Rate.self, Only.self, Team.self,
            Nothing.self, Score.self, Keys.self, Careful.self, Tree.self, Minute.self, Flat.self, Set<String>.self,
        ]
    }

    private static func optional<A: Decodable>(_ type: A.Type) -> any Decodable.Type { A?.self }
    private static func array<A: Decodable>(_ type: A.Type) -> any Decodable.Type { [A].self }
    private static func map<A: Decodable>(_ type: A.Type) -> any Decodable.Type { [String: A].self }
    private static func two<A: Decodable, B: Decodable>(_ a: A.Type, _ b: B.Type) -> any Decodable.Type {
        Two<A, B>.self
    }
    private static func three<A: Decodable, B: Decodable, C: Decodable>(
        _ a: A.Type, _ b: B.Type, _ c: C.Type
    ) -> any Decodable.Type { Three<A, B, C>.self }

    private static func type(_ depth: Int, _ random: inout Random) -> any Decodable.Type {
        guard depth > 0 else { return simple.randomElement(using: &random) ?? Int.self }
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return optional(type(depth - 1, &random))
        case 1: return array(type(depth - 1, &random))
        case 2: return map(type(depth - 1, &random))
        case 3, 4: return two(type(depth - 1, &random), type(depth - 1, &random))
        default: return three(type(depth - 1, &random), type(depth - 1, &random), type(0, &random))
        }
    }

    // MARK: The property

    @Test func `for generated types and mutated contents, the check accepts exactly what JSONDecoder decodes`() throws {
        var random = Random(seed: 38)
        var (pairs, accepted) = (0, 0)
        for number in 0..<320 {
            let type = Self.two(Self.type(number % 3, &random), Self.type(1 + number % 2, &random))
            let schema = try Recorded.of(type)
            let app = try #require(BundleID(rawValue: "com.example.Stadium"))
            let declared = try ContentType(
                app, "T", parsing: Array(#"{"versions": [{"name": "1", "schema": \#(schema)}]}"#.utf8))
            let document = try JSONValue(parsing: Array(schema.json))
            for _ in 0..<70 {
                let valid = Contents.some(document, in: document, 0, &random)
                let content = Contents.mutated(valid, times: Int.random(in: 0...2, using: &random), &random)
                // Text that is not JSON, or has a member twice, is refused before the schema is checked.
                guard (try? JSONValue(parsing: Array(content.utf8))) != nil else { continue }
                let faults = declared.faults(of: Array(content.utf8), at: "")
                let decodes = (try? Self.decode(type, content)) != nil
                #expect(faults.isEmpty == decodes, "\(type)\n\(schema)\n\(content)\n\(faults)")
                pairs += 1
                if decodes { accepted += 1 }
            }
        }
        #expect(pairs > 20_000)
        #expect((pairs / 5...pairs * 4 / 5).contains(accepted), "\(accepted) of \(pairs)")
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Any {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    // MARK: Types that cannot be recorded

    struct Positive: Decodable {
        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer().decode(Int.self)
            guard value > 0 else {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "too small"))
            }
        }
    }
    struct Lenient: Decodable {
        var home: Int
        enum CodingKeys: String, CodingKey { case home }
        init(from decoder: any Decoder) throws {
            home = (try? decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .home)) ?? 0
        }
    }
    struct Branching: Decodable {
        enum CodingKeys: String, CodingKey { case kind, home, away }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let isHome = try container.decode(Bool.self, forKey: .kind)
            _ = try container.decode(Int.self, forKey: isHome ? .home : .away)
        }
    }
    struct Looking: Decodable {
        enum CodingKeys: String, CodingKey { case home }
        init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: CodingKeys.self).contains(.home) }
    }
    struct Existing: Decodable {
        enum CodingKeys: String, CodingKey { case home }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            if container.contains(.home) { _ = try container.decode(Int.self, forKey: .home) }
        }
    }
    struct Anything: Decodable {
        enum CodingKeys: String, CodingKey { case home }
        init(from decoder: any Decoder) throws {
            guard let container = try? decoder.container(keyedBy: CodingKeys.self) else { return }
            _ = try container.decode(Int.self, forKey: .home)
        }
    }
    enum Either: Decodable { case goal(Int); case card(String) }

    @Test func `a type that depends on its values is refused by name`() throws {
        let types: [any Decodable.Type] = [
            Positive.self, Lenient.self, Branching.self, Looking.self, Existing.self, Anything.self, Either.self,
            Data.self, [Int: String].self, Two<Int, Lenient>.self, [Branching].self,
        ]
        for type in types {
            let error = #expect(throws: Recorded.Unrecordable.self) { try Recorded.of(type) }
            #expect(error?.type.isEmpty == false, "\(type)")
        }
    }

    @Test func `an enum with raw values whose cases Swift does not list is refused, and the error says what to do`()
        throws
    {
        enum Period: String, Decodable { case first, second }
        // The sample values are its raw values.
        enum Flag: UInt8, Decodable { case no = 0, yes = 1, unknown = 255 }
        struct Score: Decodable { var period: Period? }
        for (type, name) in [(Period.self, "Period"), (Flag.self, "Flag"), (Score.self, "Period")]
            as [(any Decodable.Type, String)]
        {
            let error = try #require(throws: Recorded.Unrecordable.self) { try Recorded.of(type) }
            #expect(error.type.contains(name))
            #expect(error.reason.hasSuffix("Declare an enum with raw values CaseIterable."))
        }
    }

    @Test func `an enum that reads unknown cases as another case has no list of cases`() throws {
        enum Odd: String, Decodable, CaseIterable {
            case known, other
            init(from decoder: any Decoder) throws {
                self = Odd(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .other
            }
        }
        #expect(try Recorded.of(Odd.self).description == #"{"type":"string"}"#)
    }
}

/// Contents that fit a schema, and others that almost fit.
private enum Contents {
    static let numbers = [
        "0", "1", "-1", "5.0", "1.5", "1e2", "-0", "127", "128", "-129", "255", "256", "65536", "3.5e38", "1e-50",
        "1e-400",
        "1e400", "1e128", "9007199254740993.0", "9223372036854775807", "9223372036854775808", "18446744073709551615",
        "18446744073709551616", "1.8446744073709551615e19", "1.0000000000000001", "1e19",
        "340282366920938463463374607431768211456",
        "0.5", "5e-1", "2.0", "2",
    ]
    static let texts = [
        #""""#, #""a""#, #""first""#, #""2nd""#, #""second""#, #""one""#, #""E621E1F8-C36C-495A-93FC-0C247A3E6E5F""#,
        #""e621e1f8-c36c-495a-93fc-0c247a3e6e5f""#, #""https://example.com/x""#, #""http://[::1""#, #""1:2""#,
        #""a b""#,
        #""\u0000""#, #""\ud83d\ude00""#, #""5""#,
    ]
    static let others = ["null", "true", "false", "[]", "{}", "[1]", #"{"a":1}"#, "[null]"]

    /// A content that usually fits.
    static func some(_ schema: JSONValue, in document: JSONValue, _ depth: Int, _ random: inout Random)
        -> String
    {
        if let reference = schema["$ref"]?.string?.split(separator: "/").last {
            return document["$defs"]?[String(reference)].map { some($0, in: document, depth + 1, &random) } ?? "null"
        }
        if let alternatives = schema["anyOf"]?.elements {
            let first = depth > 6 ? alternatives.last : alternatives.randomElement(using: &random)
            return first.map { some($0, in: document, depth + 1, &random) } ?? "null"
        }
        if let choices = schema["enum"]?.elements?.randomElement(using: &random) {
            return String(decoding: choices.source, as: UTF8.self)
        }
        switch schema["type"]?.string {
        case "null": return "null"
        case "boolean": return Bool.random(using: &random) ? "true" : "false"
        case "integer": return ["0", "1", "5.0", "100", "1e2"].randomElement(using: &random) ?? "0"
        case "number": return ["0", "-1.5", "1e3", "5", "0.125"].randomElement(using: &random) ?? "0"
        case "string":
            switch schema["format"]?.string {
            case "uuid": return #""E621E1F8-C36C-495A-93FC-0C247A3E6E5F""#
            case "uri-reference": return #""https://example.com/x""#
            default: return texts.randomElement(using: &random) ?? #""""#
            }
        case "array":
            guard let items = schema["items"] else { return "[]" }
            let count = depth > 6 ? 0 : Int.random(in: 0...2, using: &random)
            return "[\((0..<count).map { _ in some(items, in: document, depth + 1, &random) }.joined(separator: ","))]"
        case "object":
            guard case .object(let properties)? = schema["properties"]?.kind else {
                guard let values = schema["additionalProperties"], depth < 6 else { return "{}" }
                let (x, y) = (
                    some(values, in: document, depth + 1, &random), some(values, in: document, depth + 1, &random)
                )
                return #"{"x":\#(x),"y":\#(y)}"#
            }
            let required = Set(schema["required"]?.elements?.compactMap(\.string) ?? [])
            let members = properties.filter { required.contains($0.name) || Bool.random(using: &random) }.map {
                "\($0.name.quotedJSON):\(some($0.value, in: document, depth + 1, &random))"
            }
            return "{\(members.joined(separator: ","))}"
        default: return (others + numbers + texts).randomElement(using: &random) ?? "null"
        }
    }

    /// The content with other values in some places.
    static func mutated(_ content: String, times: Int, _ random: inout Random) -> String {
        var content = content
        for _ in 0..<times {
            guard let value = try? JSONValue(parsing: Array(content.utf8)) else { return content }
            var places = Int.random(in: 0..<max(1, count(value)), using: &random)
            content = written(value, &places, &random)
        }
        return content
    }

    private static func count(_ value: JSONValue) -> Int {
        switch value.kind {
        case .array(let elements): elements.reduce(1) { $0 + count($1) }
        case .object(let members): members.reduce(1) { $0 + count($1.value) }
        default: 1
        }
    }

    private static func written(_ value: JSONValue, _ places: inout Int, _ random: inout Random) -> String {
        places -= 1
        guard places != -1 else {
            let pool =
                switch value.kind {
                case .number where Bool.random(using: &random): numbers
                case .string where Bool.random(using: &random): texts
                default: numbers + texts + others
                }
            return pool.randomElement(using: &random) ?? "null"
        }
        switch value.kind {
        case .array(let elements):
            return "[\(elements.map { written($0, &places, &random) }.joined(separator: ","))]"
        case .object(let members):
            let parts = members.compactMap { member -> String? in
                let inner = written(member.value, &places, &random)
                // Sometimes a member is removed or renamed.
                let dice = Int.random(in: 0..<60, using: &random)
                return dice == 0 ? nil : "\((dice == 1 ? member.name + "x" : member.name).quotedJSON):\(inner)"
            }
            return "{\(parts.joined(separator: ","))}"
        default: return String(decoding: value.source, as: UTF8.self)
        }
    }
}

/// The example's activity, made from the content that organisers send.
struct StadiumTests {
    /// Checks the file that `grandstand content put` uploads. The file of an app with released versions also contains
    /// their schemas.
    @Test func `the declared content type has the schema of the Swift type, and its rules`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Examples/StadiumApp/MatchAttributes.json")
        let declaration = Array(try Data(contentsOf: file))
        let schema = try GrandstandLiveActivities.ContentSchema.of(MatchScore.self)
        let declared = try #require(try JSONValue(parsing: declaration)["versions"]?.elements?.last?["schema"])
        #expect(
            declared.isSame(as: try JSONValue(parsing: Array(schema.json))),
            "Put this into \(file.path): \(schema)")
        let type = try ContentType(
            try #require(BundleID(rawValue: "com.example.Stadium")), "MatchAttributes", parsing: declaration)
        #expect(type.rules.rings?.count == 2)
    }
}
