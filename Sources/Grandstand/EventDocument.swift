package import JSON

/// The body of `PUT /v1/events/{key}` as members with their JSON text. A `null` member counts as absent.
package struct EventDocument: Sendable, Hashable {
    private var members: [String: [UInt8]] = [:]

    package init() {}

    /// - Parameter value: an object; any other value gives no members.
    package init(_ value: JSONValue) {
        guard case .object(let all) = value.kind else { return }
        for member in all { self[member.name] = member.value.bytes }
    }

    /// - Parameter shown: an event as the API shows it. The document gets only the members that its organiser declares.
    package init(shown: JSONValue) {
        guard case .object(let all) = shown.kind else { return }
        for member in all where !Self.readOnly.contains(member.name) {
            guard member.name == "audiences" else {
                self[member.name] = member.value.bytes
                continue
            }
            var json = JSONWriter()
            json.array(member.value.elements ?? []) { Self.write(declared: $1, to: &$0) }
            self[member.name] = json.bytes
        }
    }

    /// Writes an audience without its channel.
    private static func write(declared audience: JSONValue, to json: inout JSONWriter) {
        guard case .object(let members) = audience.kind else { return json.raw(audience.source) }
        json.object { object in
            for member in members where member.name != "channel" {
                object.name(dynamic: member.name)
                object.raw(member.value.source)
            }
        }
    }

    /// Members that only the server sets.
    package static let readOnly: Set = ["key", "state", "createdAt", "updatedAt", "reopenedAt", "warnings"]

    package subscript(name: String) -> [UInt8]? {
        get { members[name] }
        set { members[name] = newValue == Array("null".utf8) ? nil : newValue }
    }

    package mutating func set(_ name: String, _ text: String) { self[name] = Array(JSONText.quoted(text).utf8) }

    /// The whole document, with its members sorted by name.
    package var text: [UInt8] {
        JSONWriter.text { object in
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                object.name(dynamic: name)
                object.raw(value)
            }
        }
    }

    /// The names of members that differ, sorted.
    package func differences(from other: EventDocument) -> [String] {
        Set(members.keys).union(other.members.keys).filter { members[$0] != other.members[$0] }.sorted()
    }

    package var names: [String] { members.keys.sorted() }

    /// A copy in which the named members have the values of `other`.
    package func taking(_ names: some Sequence<String>, from other: EventDocument) -> EventDocument {
        var taken = self
        for name in names { taken.members[name] = other.members[name] }
        return taken
    }
}
