internal import JSON

/// The values of `enum` or `const`, ready for many checks. Values are compared as Swift compares raw values: strings by
/// their characters, numbers after decoding.
struct ContentChoices: Sendable {
    let count: Int
    /// The first values as JSON, for a fault.
    let words: String
    private var strings: Set<String> = []
    /// The numbers, where the schema's only type is `integer`.
    private var wholes: Set<JSONNumber> = []
    /// The numbers, where the schema's only type is `number`.
    private var doubles: Set<Double> = []
    private var others: Set<JSONIdentity> = []
    private let types: [ContentSchema.ValueType]?

    init(_ values: [JSONValue], _ types: [ContentSchema.ValueType]?) {
        count = values.count
        self.types = types
        words = values.prefix(20).map { String(decoding: $0.compact.prefix(80), as: UTF8.self) }.joined(separator: ", ")
        for value in values {
            switch value.kind {
            case .string(let text): strings.insert(text)
            case .number(let text) where types == [.integer]:
                if let whole = ValueNumber(text).whole { wholes.insert(whole) }
            case .number(let text) where types == [.number]:
                if let double = Double(text) { doubles.insert(double) }
            default:
                others.insert(JSONIdentity(value))
            }
        }
    }

    /// The work of finding a value.
    func work(_ value: JSONValue) -> Int { others.isEmpty ? 0 : 1 + value.source.count / 4 }

    func contain(_ value: JSONValue) -> Bool {
        switch value.kind {
        case .string(let text): strings.contains(text)
        case .number(let text) where types == [.integer]: ValueNumber(text).whole.map(wholes.contains) ?? false
        case .number(let text) where types == [.number]: Double(text).map(doubles.contains) ?? false
        default: !others.isEmpty && others.contains(JSONIdentity(value))
        }
    }
}
