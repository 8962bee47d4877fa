internal import JSON

/// The members of one JSON object and of its `aps`, values only as far as a check needs them.
///
/// The simulator keeps bodies as bytes and builds no tree: content state belongs to the app, and only these members have
/// a meaning to APNs.
struct JSONObject {
    enum Value: Hashable {
        case null
        case bool(Bool)
        /// As written.
        case number(String)
        case string(String)
        case array
        /// Where the object stands in the text it was read from.
        case object(Range<Int>)

        /// The value of a number without fraction and exponent that fits.
        var integer: Int? {
            guard case .number(let text) = self else { return nil }
            return Int(text)
        }
    }

    struct Member {
        var name: String
        var value: Value
        /// Those of `aps`.
        var members: [Member] = []
    }

    /// In the order written.
    private let members: [Member]

    /// Of two members with one name, the last counts, as in most parsers. They are few: no table is made of them.
    subscript(name: String) -> Value? { members.last { $0.name == name }?.value }

    /// The object `aps` within this one; `nil` when there is none.
    var aps: JSONObject? {
        guard let aps = members.last(where: { $0.name == Self.inner }), case .object = aps.value else { return nil }
        return JSONObject(members: aps.members)
    }

    var names: [String] { members.map(\.name) }

    /// Reads a whole JSON text that is an object.
    ///
    /// - Returns: `nil` for anything else: not JSON (RFC 8259, strictly), not UTF-8, nested too deep, another kind of
    ///   value.
    init?(_ text: [UInt8]) {
        do throws(JSONFault) {
            var scanner = try JSONScanner(text, maximumDepth: JSONValue.maximumDepth)
            guard try scanner.start() == .object else { return nil }
            members = try Self.members(&scanner, inner: Self.inner)
            try scanner.finish()
        } catch {
            return nil
        }
    }

    /// - Parameter inner: the member whose members are wanted, too, if it is an object.
    private static func members(_ scanner: inout JSONScanner, inner: String?) throws(JSONFault) -> [Member] {
        var members: [Member] = []
        members.reserveCapacity(4)
        var more = try scanner.enter(.object)
        while more {
            var member = Member(name: try scanner.name(), value: .array)
            let start = scanner.index
            switch try scanner.start() {
            case .null: member.value = .null
            case .bool(let flag): member.value = .bool(flag)
            case .number: member.value = .number(try scanner.number())
            case .string: member.value = .string(try scanner.string())
            case .array: try scanner.skip(.array)
            case .object:
                if member.name == inner {
                    member.members = try Self.members(&scanner, inner: nil)
                } else {
                    try scanner.skip(.object)
                }
                member.value = .object(start..<scanner.index)
            }
            members.append(member)
            more = try scanner.advance(in: .object)
        }
        return members
    }

    private init(members: [Member]) { self.members = members }

    private static let inner = "aps"
}
