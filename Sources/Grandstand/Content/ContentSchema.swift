internal import FoundationEssentials
package import JSON

/// What one version of an app can decode: a JSON Schema (2020-12) with only the keywords that Swift types need. It is
/// compiled once, when its content type is read.
package struct ContentSchema: Sendable {
    /// A place in a content that does not fit the schema, and what the schema wants there.
    package struct Fault: Sendable, Hashable {
        package var pointer: String
        package var wanted: String
        /// Whether the check ended before it knew if the version can decode the content.
        package var isUndecided = false
    }

    /// The work that the check of one content may take, so that no schema or content holds a thread for long. A unit is
    /// about one comparison. To check a content of 5 KB against 20 versions takes less.
    package static let mostWork = 200_000

    /// A kind of value, as `type` names it.
    enum ValueType: String, CaseIterable {
        case null, boolean, object, array, number, string, integer
    }

    /// The values of `format`. Each one is a form of string or number that Swift's decoder requires in addition to the
    /// JSON type.
    enum Format: String, CaseIterable {
        case uuid
        case uri = "uri-reference"
        case float
        case decimal
    }

    typealias Bound = (number: JSONNumber, text: String)

    /// One schema of the document. It refers to other schemas by their indices in `nodes`.
    struct Node {
        /// Whether the schema is `false`, which no value fits.
        var isNever = false
        var types: [ValueType]?
        var properties: [String: Int] = [:]
        var required: [String] = []
        /// The schema of members that `properties` does not name.
        var additional: Int?
        var items: Int?
        /// `enum` and `const`: a value must be in each of them.
        var allowed: [AllowedValues] = []
        var minimum: Bound?
        var maximum: Bound?
        var maxLength: Int?
        var maxItems: Int?
        var anyOf: [Int] = []
        var reference: Int?
        var format: Format?

        /// The schemas to which `$ref` and `anyOf` lead for the same value.
        var alternatives: [Int] { anyOf + [reference].compactMap(\.self) }

        /// Whether the schema allows objects and names none of their members, neither itself nor by other schemas.
        var isFreeForm: Bool {
            !isNever && properties.isEmpty && additional == nil && anyOf.isEmpty && reference == nil && allowed.isEmpty
                && types?.contains(.object) ?? true
        }
    }

    let nodes: [Node]

    /// The most schemas in one document.
    static let mostNodes = 2_000

    /// Whether the schema describes a member at this place, or says nothing about the members there.
    func mayHave(_ place: JSONPointer) -> Bool { indices(at: place)?.isEmpty != true }

    /// Whether the schema allows a value of one of these types at the place, or does not describe the place.
    func mayHave(_ types: Set<ValueType>, at place: JSONPointer) -> Bool {
        guard let indices = indices(at: place), !indices.isEmpty else { return true }
        return withAlternatives(indices).map { nodes[$0] }.contains { node in
            node.types.map { !types.isDisjoint(with: $0) } ?? (node.anyOf.isEmpty && node.reference == nil)
        }
    }

    /// Whether the schema allows this value at the place, or does not describe the place.
    func mayHave(_ value: JSONValue, at place: JSONPointer) -> Bool {
        guard let indices = indices(at: place), !indices.isEmpty else { return true }
        var check = ContentCheck(schema: self, budget: Self.mostWork)
        return indices.contains { check.faults(of: value, by: $0).isEmpty || check.isSpent }
    }

    /// The schemas of the values at a place; `nil`: the document says nothing about the members there.
    private func indices(at place: JSONPointer) -> Set<Int>? {
        var level: Set = [0]
        for name in place.names {
            let alternatives = withAlternatives(level).map { nodes[$0] }
            if alternatives.contains(where: \.isFreeForm) { return nil }
            level = Set(alternatives.compactMap { $0.properties[name] ?? $0.additional }.filter { !nodes[$0].isNever })
        }
        return level
    }

    /// The schemas, and those to which `$ref` and `anyOf` lead for the same value.
    func withAlternatives(_ indices: Set<Int>) -> Set<Int> {
        var (found, waiting) = (indices, Array(indices))
        while let index = waiting.popLast() {
            waiting += nodes[index].alternatives.filter { found.insert($0).inserted }
        }
        return found
    }

    /// The places of a content that this version of the app cannot decode, at most `FaultList.limit`; empty: it can
    /// decode the content. When the budget is spent, the only fault is one that says so.
    package func faults(of content: JSONValue, spending budget: inout Int) -> [Fault] {
        var check = ContentCheck(schema: self, budget: budget)
        defer { budget = check.budget }
        let faults = check.faults(of: content, by: 0)
        guard !check.isSpent else {
            return [Fault(pointer: "", wanted: "A simpler content was expected.", isUndecided: true)]
        }
        return Array(faults.prefix(FaultList.limit))
    }
}

/// One check of a content. It ends when its budget is spent.
private struct ContentCheck {
    let schema: ContentSchema
    var budget: Int
    var isSpent = false
    var path: [String] = []
    /// The number of schemas that are being checked, one inside the other.
    var depth = 0

    /// The deepest nesting of schemas in a check, because each level needs stack. A Swift type needs about four schemas
    /// for each level of its content.
    private static let mostDepth = 400

    private mutating func spend(_ units: Int) {
        budget -= units
        if budget <= 0 { isSpent = true }
    }

    mutating func faults(of value: JSONValue, by index: Int) -> [ContentSchema.Fault] {
        depth += 1
        defer { depth -= 1 }
        if depth > Self.mostDepth { isSpent = true }
        let node = schema.nodes[index]
        spend(1 + Self.cost(value, node))
        guard !isSpent else { return [] }
        guard !node.isNever else { return [fault("This member is not allowed.")] }
        if let types = node.types, !types.contains(where: { $0.fits(value) }) {
            return [fault("\(Self.words(types, node)) was expected, not \(Self.name(value)).")]
        }
        var faults: [ContentSchema.Fault] = []
        for choices in node.allowed {
            spend(choices.cost(value))
            if !isSpent, !choices.contain(value) {
                faults.append(fault("\(choices.count == 1 ? "" : "One of ")\(choices.words) was expected."))
            }
        }
        switch value.kind {
        case .number(let text): faults += numberFaults(text, node)
        case .string(let text): faults += stringFaults(text, node)
        case .array(let elements):
            if let most = node.maxItems, elements.count > most {
                faults.append(fault("At most \(most) items were expected; there are \(elements.count)."))
            }
            if let items = node.items {
                for (place, element) in elements.enumerated() where !isSpent && faults.count < FaultList.limit {
                    faults += nested(String(place), element, items)
                }
            }
        case .object(let members):
            faults += missingFaults(members, node)
            for (name, value) in members where !isSpent && faults.count < FaultList.limit {
                guard let index = node.properties[name] ?? node.additional else { continue }
                faults += nested(name, value, index)
            }
        case .null, .bool: break
        }
        if let reference = node.reference { faults += self.faults(of: value, by: reference) }
        if !node.anyOf.isEmpty { faults += alternativeFaults(value, node.anyOf) }
        return faults
    }

    /// The work of checking a value against a schema, without the schema's choices and the values inside the value.
    private static func cost(_ value: JSONValue, _ node: ContentSchema.Node) -> Int {
        switch value.kind {
        // Foundation decodes each value with a `format`. That costs about 50 comparisons.
        case .number, .string: (node.format == nil ? 0 : 50) + value.source.count / 16
        case .object(let members):
            members.count + node.required.count + members.reduce(0) { $0 + $1.name.utf8.count / 16 }
        case .null, .bool, .array: 0
        }
    }

    private func missingFaults(
        _ members: [(name: String, value: JSONValue)], _ node: ContentSchema.Node
    ) -> [ContentSchema.Fault] {
        guard !node.required.isEmpty else { return [] }
        let names = Set(members.map(\.name))
        var faults: [ContentSchema.Fault] = []
        for name in node.required where !names.contains(name) && faults.count < FaultList.limit {
            faults.append(fault("\(name) is required.", at: [name]))
        }
        return faults
    }

    private mutating func nested(_ name: String, _ value: JSONValue, _ index: Int) -> [ContentSchema.Fault] {
        path.append(name)
        defer { path.removeLast() }
        return faults(of: value, by: index)
    }

    /// The faults of the alternative that fits best; empty: one alternative fits.
    private mutating func alternativeFaults(_ value: JSONValue, _ alternatives: [Int]) -> [ContentSchema.Fault] {
        var nearest: [ContentSchema.Fault]?
        for index in alternatives where !isSpent {
            let found = faults(of: value, by: index)
            if found.isEmpty { return [] }
            // If an alternative's faults are deeper inside the value, the kind of the outer value was right for this
            // alternative.
            let depth = found.map(\.pointer.count).max() ?? 0
            if depth > nearest?.map(\.pointer.count).max() ?? -1 { nearest = found }
        }
        return nearest ?? []
    }

    private func numberFaults(_ text: String, _ node: ContentSchema.Node) -> [ContentSchema.Fault] {
        var faults: [ContentSchema.Fault] = []
        let exact = node.types == [.integer] ? SwiftNumber.whole(text) : JSONNumber(text)
        if let minimum = node.minimum, let exact, exact < minimum.number {
            faults.append(fault("At least \(minimum.text) was expected."))
        }
        if let maximum = node.maximum, let exact, maximum.number < exact {
            faults.append(fault("At most \(maximum.text) was expected."))
        }
        if let format = node.format, !format.fits(text, isNumber: true) { faults.append(fault(format.wanted)) }
        return faults
    }

    private func stringFaults(_ text: String, _ node: ContentSchema.Node) -> [ContentSchema.Fault] {
        var faults: [ContentSchema.Fault] = []
        if let most = node.maxLength, text.unicodeScalars.count > most {
            faults.append(fault("At most \(most) characters were expected; there are \(text.unicodeScalars.count)."))
        }
        if let format = node.format, !format.fits(text, isNumber: false) { faults.append(fault(format.wanted)) }
        return faults
    }

    private func fault(_ wanted: String, at names: [String] = []) -> ContentSchema.Fault {
        ContentSchema.Fault(pointer: PointerText.pointer(path + names), wanted: wanted)
    }

    private static func words(_ types: [ContentSchema.ValueType], _ node: ContentSchema.Node) -> String {
        let words = types.map { type in
            switch type {
            case .null: "null"
            case .boolean: "true or false"
            case .object: "an object"
            case .array: "an array"
            case .number: "a number"
            case .string: "a string"
            case .integer:
                if let minimum = node.minimum, let maximum = node.maximum {
                    "a whole number from \(minimum.text) to \(maximum.text)"
                } else {
                    "a whole number"
                }
            }
        }.joined(separator: " or ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    private static func name(_ value: JSONValue) -> String {
        if case .number(let text) = value.kind {
            return text.utf8.count > 40 ? "a number of more than 40 characters" : text
        }
        return value.kindName
    }
}

/// A number as Swift's `JSONDecoder` reads it.
enum SwiftNumber {
    /// Whether Swift reads the number as a double. Swift refuses numbers that are too large, or so small that they
    /// would become 0.
    fileprivate static func isDouble(_ text: String) -> Bool {
        text.utf8.count < 100 && text.utf8.allSatisfy { $0 | 0x20 != UInt8(ascii: "e") }
            || (try? JSONDecoder().decode(Double.self, from: Data(text.utf8))) != nil
    }

    /// The whole number that Swift decodes from the text; `nil`: Swift decodes none. A text of digits only is read
    /// exactly. A text with a fraction or an exponent, such as `5.0`, is read with Swift's own decoder, because the
    /// decoder converts such a text through a Double or a Decimal.
    static func whole(_ text: String) -> JSONNumber? {
        if text.utf8.allSatisfy({ $0 != UInt8(ascii: ".") && $0 | 0x20 != UInt8(ascii: "e") }) {
            return JSONNumber(text)
        }
        let bytes = Data(text.utf8)
        if let number = try? JSONDecoder().decode(Int64.self, from: bytes) { return JSONNumber(String(number)) }
        return (try? JSONDecoder().decode(UInt64.self, from: bytes)).map { JSONNumber(String($0)) }
    }
}

extension ContentSchema.ValueType {
    fileprivate func fits(_ value: JSONValue) -> Bool {
        switch (self, value.kind) {
        case (.null, .null), (.boolean, .bool), (.object, .object), (.array, .array), (.string, .string): true
        case (.number, .number(let text)): SwiftNumber.isDouble(text)
        case (.integer, .number(let text)): SwiftNumber.whole(text) != nil
        default: false
        }
    }
}

extension ContentSchema.Format {
    fileprivate var wanted: String {
        switch self {
        case .uuid: "A UUID was expected, such as 1e0f9a8b-7c6d-4e5f-8a3b-2c1d0e9f8a7b."
        case .uri: "A URL was expected."
        case .float: "A number was expected that a Float holds."
        case .decimal: "A number was expected that a Decimal holds."
        }
    }

    /// Uses Swift's own decoders, so that the check and the app agree.
    fileprivate func fits(_ text: String, isNumber: Bool) -> Bool {
        switch self {
        case .uuid: isNumber || UUID(uuidString: text) != nil
        case .uri: isNumber || URL(string: text) != nil
        case .float: !isNumber || (try? JSONDecoder().decode(Float.self, from: Data(text.utf8))) != nil
        case .decimal: !isNumber || (try? JSONDecoder().decode(Decimal.self, from: Data(text.utf8))) != nil
        }
    }
}

/// The values of `enum` or `const`, ready for many checks. Values are compared as Swift compares raw values: strings by
/// their characters, numbers after decoding.
struct AllowedValues: Sendable {
    let count: Int
    /// The first values as JSON, for a fault.
    let words: String
    private let values: Set<Choice>
    private let types: [ContentSchema.ValueType]?

    private enum Choice: Hashable {
        case text(String)
        /// A number, where the schema's only type is `integer`.
        case whole(JSONNumber?)
        /// A number, where the schema's only type is `number`.
        case double(Double?)
        case other(CanonicalJSON)
    }

    init(_ values: [JSONValue], _ types: [ContentSchema.ValueType]?) {
        count = values.count
        words = values.prefix(20).map { String(decoding: $0.compact.prefix(80), as: UTF8.self) }.joined(separator: ", ")
        self.values = Set(values.map { Self.choice($0, types) })
        self.types = types
    }

    private static func choice(_ value: JSONValue, _ types: [ContentSchema.ValueType]?) -> Choice {
        switch value.kind {
        case .string(let text): .text(text)
        case .number(let text) where types == [.integer]: .whole(SwiftNumber.whole(text))
        case .number(let text) where types == [.number]: .double(Double(text))
        default: .other(CanonicalJSON(value))
        }
    }

    /// The work of finding a value.
    func cost(_ value: JSONValue) -> Int { 1 + value.source.count / 4 }

    func contain(_ value: JSONValue) -> Bool { values.contains(Self.choice(value, types)) }
}
