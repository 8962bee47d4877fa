internal import JSON

/// The members of one JSON object. If two have the same name, the last one counts, as in most parsers.
///
/// The simulator keeps bodies as bytes and builds no tree, because the content state belongs to the app and APNs uses
/// only some members of `aps`.
struct JSONObject {
    enum Value: Hashable {
        /// The number's text.
        case number(String)
        case string(String)
        /// The object's text.
        case object([UInt8])
        /// Null, a boolean or an array.
        case other

        /// The value of a whole number without fraction and exponent; `nil` if it does not fit.
        var integer: Int? { if case .number(let text) = self { Int(text) } else { nil } }
        /// The value of a number; `nil` if it is infinite as a Double, and could not be written as JSON again.
        var finite: Double? {
            if case .number(let text) = self, let number = Double(text), number.isFinite { number } else { nil }
        }
        var string: String? { if case .string(let text) = self { text } else { nil } }
        var object: JSONBytes? { if case .object(let text) = self { JSONBytes(text) } else { nil } }
    }

    private(set) var members: [String: Value] = [:]

    subscript(name: String) -> Value? { members[name] }

    /// The object `aps`; `nil`: there is none.
    var aps: JSONObject? { members["aps"]?.object.flatMap { JSONObject($0.bytes) } }

    /// Parses a JSON text that is one object.
    ///
    /// - Returns: `nil` for other text: not strict JSON (RFC 8259), not UTF-8, nested too deeply, or another kind of
    ///   value.
    init?(_ text: [UInt8]) {
        do throws(JSONFault) {
            var scanner = try JSONScanner(text, maximumDepth: Self.maximumDepth)
            guard try scanner.start() == .object else { return nil }
            var more = try scanner.enter(.object)
            while more {
                let name = try scanner.name()
                let start = scanner.index
                switch try scanner.start() {
                case .null, .bool: members[name] = .other
                case .number: members[name] = .number(try scanner.number())
                case .string: members[name] = .string(try scanner.string())
                case .array:
                    try scanner.skip(.array)
                    members[name] = .other
                case .object:
                    try scanner.skip(.object)
                    members[name] = .object(Array(text[start..<scanner.index]))
                }
                more = try scanner.advance(in: .object)
            }
            try scanner.finish()
        } catch {
            return nil
        }
    }

    private static let maximumDepth = 512
}
