internal import GrandstandClient

/// Any JSON, for looking into answers without a type for each.
typealias JSON = JSONTree

extension JSONTree {
    /// A member of an object; `nil` when it is not there or null.
    subscript(name: String) -> JSON? {
        guard case .object(let members) = self, let value = members[name], value != .null else { return nil }
        return value
    }

    subscript(index: Int) -> JSON? { items.indices.contains(index) ? items[index] : nil }

    /// The elements of an array; empty for any other value.
    var items: [JSON] { if case .array(let items) = self { items } else { [] } }

    var string: String? { if case .string(let value) = self { value } else { nil } }

    var int: Int? { if case .integer(let value) = self { Int(value) } else { nil } }

    var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The names of an object's members, sorted.
    var names: [String] { if case .object(let members) = self { members.keys.sorted() } else { [] } }
}
