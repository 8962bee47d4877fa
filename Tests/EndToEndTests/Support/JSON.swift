internal import Foundation

/// Any JSON, for looking into answers without a type for each.
enum JSON: Decodable, Sendable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    /// A member of an object; `nil` when it is not there or null.
    subscript(name: String) -> JSON? {
        guard case .object(let members) = self, let value = members[name], value != .null else { return nil }
        return value
    }

    subscript(index: Int) -> JSON? { items.indices.contains(index) ? items[index] : nil }

    /// The elements of an array; none of anything else.
    var items: [JSON] { if case .array(let items) = self { items } else { [] } }

    var string: String? { if case .string(let value) = self { value } else { nil } }

    var int: Int? { if case .number(let value) = self { Int(exactly: value) } else { nil } }

    var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The names of an object's members, sorted.
    var names: [String] { if case .object(let members) = self { members.keys.sorted() } else { [] } }
}
