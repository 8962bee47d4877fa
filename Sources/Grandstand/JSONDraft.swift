package import GrandstandContract
package import JSON

/// The members of a JSON object, each with its text, such as a request's body that is being built. In a declaration `null`
/// counts as left out, in a patch it removes the member.
package struct JSONDraft: Sendable, Hashable {
    private var members: [String: [UInt8]] = [:]

    package init() {}

    /// The members of an object that are not null; any other value gives none.
    ///
    /// - Parameter left: the members to leave out. All others stay, so that a field of a newer server is written back or
    ///   refused by name, but never silently dropped.
    package init(_ value: JSONValue, without left: Set<String> = []) {
        guard case .object(let all) = value.kind else { return }
        for member in all where !member.value.isNull && !left.contains(member.name) {
            members[member.name] = member.value.bytes
        }
    }

    /// The declaration of an event, as `PUT /v1/events/{key}` takes it.
    ///
    /// - Parameter shown: the event as the API shows it, with members that only the server sets.
    package init(event shown: JSONValue) {
        self.init(shown, without: ["key", "state", "createdAt", "updatedAt", "reopenedAt", "warnings"])
        guard let audiences = shown["audiences"]?.elements else { return }
        members["audiences"] = JSONWriter.text(audiences.map { JSONDraft($0, without: ["channel"]) })
    }

    package subscript(name: String) -> [UInt8]? {
        get { members[name] }
        set { members[name] = newValue }
    }

    /// Sets a text. `nil` changes nothing.
    package mutating func set(_ name: String, _ text: String?) {
        if let text { members[name] = Array(text.quotedJSON.utf8) }
    }

    /// The parsed value of a member; `nil`: there is none.
    package func value(_ name: String) -> JSONValue? { members[name].flatMap { try? JSONValue(parsing: $0) } }

    /// The whole object, with its members sorted by name.
    package var text: [UInt8] {
        JSONWriter.text { object in
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                object.name(dynamic: name)
                object.raw(value)
            }
        }
    }

    /// The object in the type that API calls use.
    package var json: RawJSON { RawJSON(unchecked: text) }

    /// The names of members that differ, sorted.
    package func differences(from other: JSONDraft) -> [String] {
        Set(members.keys).union(other.members.keys).filter { members[$0] != other.members[$0] }.sorted()
    }

    package var names: [String] { members.keys.sorted() }

    /// A copy in which the named members have the values of `other`.
    package func taking(_ names: some Sequence<String>, from other: JSONDraft) -> JSONDraft {
        var taken = self
        for name in names { taken.members[name] = other.members[name] }
        return taken
    }
}

extension JSONDraft: Codable {
    /// Reads an object without the white space between its parts.
    package init(from decoder: any Decoder) throws {
        self.init(try JSONValue(decoding: try JSONValue(from: decoder).compact))
    }

    package func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}
