internal import FoundationEssentials
internal import Grandstand
internal import JSON

extension JSONValue {
    /// Whether this value contains everything in `wanted`. The API may write the same content differently: times to the
    /// millisecond, numbers in their shortest form, lists in another order. A member that is `null` or empty counts as
    /// absent.
    func contains(_ wanted: JSONValue) -> Bool {
        switch (wanted.kind, kind) {
        case (.object(let members), .object):
            return members.allSatisfy { member in
                guard let value = self[member.name] else { return member.value.isNothing }
                return value.contains(member.value) || value.isNothing && member.value.isNothing
            }
        case (.array(let all), .array(var rest)):
            guard all.count == rest.count else { return false }
            for element in all {
                guard let place = rest.firstIndex(where: { $0.contains(element) }) else { return false }
                rest.remove(at: place)
            }
            return true
        case (.string(let one), .string(let other)):
            return one == other || RFC3339.date(one).map { $0 == RFC3339.date(other) } ?? false
        case (.number(let one), .number(let other)): return one == other || Double(one) == Double(other)
        case (.bool(let one), .bool(let other)): return one == other
        case (.null, .null): return true
        default: return false
        }
    }

    /// `null`, or a collection without values.
    private var isNothing: Bool {
        switch kind {
        case .null: true
        case .array(let elements): elements.isEmpty
        case .object(let members): members.allSatisfy(\.value.isNothing)
        case .bool, .number, .string: false
        }
    }
}
