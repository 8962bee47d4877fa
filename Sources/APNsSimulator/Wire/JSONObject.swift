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
        guard String(validating: text, as: UTF8.self) != nil else { return nil }
        var scanner = JSONScanner(text, from: 0)
        guard let members = scanner.document(inner: Self.inner) else { return nil }
        self.members = members
    }

    private init(members: [Member]) { self.members = members }

    private static let inner = "aps"
}
