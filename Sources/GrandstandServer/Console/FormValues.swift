internal import FoundationEssentials
internal import Grandstand
internal import JSON

// Converts values of forms to the API's bodies.

extension FormFields {
    /// The body of a rotation: how long the old secret stays valid.
    ///
    /// - Throws: `invalid-request`.
    func overlap() throws(Problem) -> JSONValue {
        let seconds = try read("overlapSeconds", "A number of seconds was expected.") { Int($0) }
        return try .body { object in
            if let seconds { object.member("overlapSeconds", seconds) }
        }
    }

    /// The version that the form was made from. A form without a version is applied to whatever version the object has.
    var version: WriteCondition {
        guard let etag = self["etag"] ?? self["version"] else { return .none }
        return .versions(Set([Int(etag.filter { $0 != "\"" })].compactMap(\.self)))
    }
}

extension JSONWriter {
    /// Writes `bundleIds`, from text separated by commas or spaces. If the text has no bundle ID, the member is left
    /// out, which means all apps.
    mutating func member(apps text: String?) {
        let apps = (text ?? "").split { $0 == "," || $0.isWhitespace }.map(String.init)
        if !apps.isEmpty { member("bundleIds", apps) }
    }
}

extension JSONValue {
    /// A body as JSON. The code that reads the body of an API operation also reads this body, so forms are refused in
    /// the same words as API requests.
    static func body(_ members: (inout JSONWriter) -> Void) throws(Problem) -> JSONValue {
        var json = JSONWriter()
        json.object(members)
        return try JSONValue(parsing: json.bytes)
    }

    /// The text of a member; empty if the member is absent.
    func text(_ name: String) -> String { self[name]?.string ?? "" }

    /// The time that a member contains; `nil` if the member is absent.
    func moment(_ name: String) -> Moment? { self[name]?.string.map(Moment.init(iso:)) }

    func texts(_ name: String) -> [String] { (self[name]?.elements ?? []).compactMap(\.string) }

    func integer(_ name: String) -> Int {
        guard case .number(let text)? = self[name]?.kind else { return 0 }
        return Int(text) ?? 0
    }

    func flag(_ name: String) -> Bool {
        guard case .bool(let value)? = self[name]?.kind else { return false }
        return value
    }

    func items(_ name: String) -> [JSONValue] { self[name]?.elements ?? [] }
}
