internal import ContractKit

/// Any JSON, for looking into answers without a type for each.
struct JSON: Decodable, Equatable {
    private let value: YAML

    static let null = JSON(.null)

    private init(_ value: YAML) { self.value = value }
    init(from decoder: any Decoder) throws { value = try YAML(from: decoder) }

    /// A member of an object; `nil` when it is not there or null.
    subscript(name: String) -> JSON? { value[name].flatMap { $0 == .null ? nil : JSON($0) } }

    subscript(index: Int) -> JSON? { items.indices.contains(index) ? items[index] : nil }

    /// The elements of an array; empty for any other value.
    var items: [JSON] { value.elements.map(JSON.init) }

    var string: String? { value.string }

    var int: Int? { value.number.flatMap { Int(exactly: $0) } }

    var number: Double? { value.number }

    var bool: Bool? { if case .bool(let value) = value { value } else { nil } }

    /// The names of an object's members, sorted.
    var names: [String] { value.members.map(\.name).sorted() }
}
