/// The members of one JSON object, its values only as far as a check needs them.
///
/// The simulator keeps bodies as bytes and builds no tree: content state belongs to the app, and only the outer
/// members have a meaning to APNs.
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
    }

    /// In the order written.
    private let members: [Member]
    private let text: [UInt8]

    /// Of two members with one name, the last counts, as in most parsers. They are few: no table is made of them.
    subscript(name: String) -> Value? { members.last { $0.name == name }?.value }

    var names: [String] { members.map(\.name) }

    /// Reads a whole JSON text that is an object.
    ///
    /// - Returns: `nil` for anything else: not JSON (RFC 8259, strictly), not UTF-8, nested too deep, another kind of
    ///   value.
    init?(_ text: [UInt8]) {
        guard String(validating: text, as: UTF8.self) != nil else { return nil }
        var scanner = JSONScanner(text, from: 0)
        guard let members = scanner.document() else { return nil }
        self.text = text
        self.members = members
    }

    /// An object within this one; `nil` when `name` is not an object.
    func object(_ name: String) -> JSONObject? {
        guard case .object(let range)? = self[name] else { return nil }
        var scanner = JSONScanner(text, from: range.lowerBound)
        return scanner.object().map { JSONObject(members: $0, text: text) }
    }

    private init(members: [Member], text: [UInt8]) {
        self.members = members
        self.text = text
    }
}
