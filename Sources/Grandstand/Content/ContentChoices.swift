internal import JSON

/// The values of `enum` or `const`, ready for many checks. Values are compared as Swift compares raw values: strings by
/// their characters, numbers after decoding.
struct ContentChoices: Sendable {
    let first: JSONValue?
    let count: Int
    /// The first values as JSON, for a fault.
    let words: String
    /// The work of one check: a set costs nothing, other values are compared one by one.
    private(set) var work = 0
    private var strings: Set<String> = []
    /// The numbers, where the schema's only type is `integer`.
    private var wholes: Set<JSONNumber> = []
    /// The numbers, where the schema's only type is `number`.
    private var doubles: Set<Double> = []
    private var others: [JSONValue] = []
    private let types: [ContentSchema.ValueType]?

    init(_ values: [JSONValue], _ types: [ContentSchema.ValueType]?) {
        first = values.first
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
                others.append(value)
                work += 1 + value.source.count / 4
            }
        }
    }

    func contain(_ value: JSONValue) -> Bool {
        switch value.kind {
        case .string(let text): strings.contains(text)
        case .number(let text) where types == [.integer]: ValueNumber(text).whole.map(wholes.contains) ?? false
        case .number(let text) where types == [.number]: Double(text).map(doubles.contains) ?? false
        default: others.contains { value.isSame(as: $0) }
        }
    }
}
