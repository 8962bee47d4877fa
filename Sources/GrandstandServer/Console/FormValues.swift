internal import FoundationEssentials
internal import Grandstand
internal import JSON

// Reads the API's answers.

extension JSONValue {
    static func text(_ text: String) -> JSONValue? { try? JSONValue(decoding: JSONText.quoted(text).utf8) }

    /// The text of a member; empty if the member is absent.
    func text(_ name: String) -> String { self[name]?.string ?? "" }

    /// The time that a member contains; `nil` if the member is absent.
    func moment(_ name: String) -> Moment? { self[name]?.string.map(Moment.init(iso:)) }

    func texts(_ name: String) -> [String] { (self[name]?.elements ?? []).compactMap(\.string) }

    func integer(_ name: String) -> Int { self[name]?.integer ?? 0 }

    func flag(_ name: String) -> Bool {
        guard case .bool(let value)? = self[name]?.kind else { return false }
        return value
    }

    func items(_ name: String) -> [JSONValue] { self[name]?.elements ?? [] }
}
