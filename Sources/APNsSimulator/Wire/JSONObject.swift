internal import JSON

/// The members of one JSON object and of its `aps`. Values are parsed only as far as a check needs them.
///
/// The simulator keeps bodies as bytes and builds no tree, because the content state belongs to the app and APNs uses
/// only these members.
struct JSONObject {
    enum Value: Hashable {
        case null
        case bool(Bool)
        /// The number's text.
        case number(String)
        case string(String)
        case array
        /// The range of the object in its text.
        case object(Range<Int>)

        /// The value of a whole number without fraction and exponent; `nil` if it does not fit.
        var integer: Int? {
            guard case .number(let text) = self else { return nil }
            return Int(text)
        }
    }

    struct Member {
        var name: String
        var value: Value
        /// If this member is `aps`: its members; otherwise empty.
        var members: [Member] = []
    }

    /// In the order of the text.
    private let members: [Member]

    /// If two members have the same name, the last one counts, as in most parsers. The object has few members, so no
    /// dictionary is needed.
    subscript(name: String) -> Value? { members.last { $0.name == name }?.value }

    /// The object `aps`; `nil`: there is none.
    var aps: JSONObject? {
        guard let aps = members.last(where: { $0.name == Self.inner }), case .object = aps.value else { return nil }
        return JSONObject(members: aps.members)
    }

    var names: [String] { members.map(\.name) }

    /// Parses a JSON text that is one object.
    ///
    /// - Returns: `nil` for other text: not strict JSON (RFC 8259), not UTF-8, nested too deeply, or another kind of
    ///   value.
    init?(_ text: [UInt8]) {
        do throws(JSONFault) {
            var scanner = try JSONScanner(text, maximumDepth: Self.maximumDepth)
            guard try scanner.start() == .object else { return nil }
            members = try Self.members(&scanner, inner: Self.inner)
            try scanner.finish()
        } catch {
            return nil
        }
    }

    /// - Parameter inner: the name of the member whose own members are parsed, too, if it is an object.
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
    private static let maximumDepth = 512
}
