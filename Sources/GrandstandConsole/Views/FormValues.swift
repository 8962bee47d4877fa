internal import FoundationEssentials
internal import Grandstand
internal import JSON

// What forms say, as the API's bodies want it.

extension FormFields {
    /// How long an old secret goes on beside the new one.
    ///
    /// - Throws: `invalid-request`.
    func overlap() throws(Problem) -> Int {
        try read("overlapSeconds", "A number of seconds was expected.") { Int($0) } ?? 86_400
    }
}

extension JSONWriter {
    /// `bundleIds`, from text with commas or spaces between them; nothing for none: all apps.
    mutating func member(apps text: String?) {
        let apps = (text ?? "").split { $0 == "," || $0.isWhitespace }.map(String.init)
        if !apps.isEmpty { member("bundleIds", apps) }
    }

    static func overlap(_ seconds: Int) -> [UInt8] {
        var json = JSONWriter()
        json.object { $0.member("overlapSeconds", seconds) }
        return json.bytes
    }
}

extension JSONValue {
    /// The text of a member; empty when it is not there.
    func text(_ name: String) -> String { self[name]?.string ?? "" }

    /// The time of a member, for people.
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

    /// Whose things a key or webhook reaches.
    var apps: String {
        let bound = texts("bundleIds")
        return bound.isEmpty ? "all" : bound.joined(separator: ", ")
    }
}
