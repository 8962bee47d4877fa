internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandServer
internal import JSON

/// A request body that is being built: members by name, each with JSON text.
struct Draft {
    private var members: [(name: String, json: [UInt8])] = []
    private let keepsNulls: Bool

    /// Makes an empty draft.
    ///
    /// - Parameter keepsNulls: `true` for a patch: members that are `null` stay in the body.
    init(keepsNulls: Bool = false) { self.keepsNulls = keepsNulls }

    /// Makes a draft from the answer of a GET, without the members that PUT does not accept.
    ///
    /// - Parameter readOnly: the members to leave out. All others stay, so that a field of a newer server is written
    ///   back or refused by name, but never silently dropped.
    init(_ present: JSONValue, without readOnly: Set<String> = []) {
        self.init()
        guard case .object(let all) = present.kind else { return }
        for member in all where !readOnly.contains(member.name) { set(member.name, raw: member.value.bytes) }
    }

    var bytes: [UInt8] {
        var body = JSONWriter()
        body.object { object in
            for member in members {
                object.name(dynamic: member.name)
                object.raw(member.json)
            }
        }
        return body.bytes
    }

    var isEmpty: Bool { members.isEmpty }

    /// The body in the type that API calls use.
    var json: RawJSON { get throws { try RawJSON(json: Data(bytes)) } }

    subscript(name: String) -> JSONValue? {
        members.first { $0.name == name }.flatMap { try? JSONValue(parsing: $0.json) }
    }

    /// Sets a member. `nil` changes nothing. JSON `null` removes the member, unless the draft keeps nulls
    /// (`keepsNulls`).
    mutating func set(_ name: String, raw json: [UInt8]?) {
        guard let json else { return }
        let place = members.firstIndex { $0.name == name }
        if json == Array("null".utf8), !keepsNulls {
            if let place { members.remove(at: place) }
        } else if let place {
            members[place].json = json
        } else {
            members.append((name, json))
        }
    }

    /// Sets the members of a JSON object.
    ///
    /// - Parameter option: the option of the argument, for the error message.
    mutating func set(_ option: String, membersOf object: [UInt8]) throws {
        guard case .object(let members) = try JSONValue(parsing: object).kind else {
            throw StartError("\(option): a JSON object was expected")
        }
        for member in members { set(member.name, raw: member.value.bytes) }
    }

    mutating func set(_ name: String, _ text: String?) { set(name, raw: text.map { Array(JSONText.quoted($0).utf8) }) }

    /// Sets a list of texts. An empty list changes nothing.
    mutating func set(_ name: String, texts: [String]) {
        guard !texts.isEmpty else { return }
        var list = JSONWriter()
        list.array(texts) { writer, text in writer.string(text) }
        set(name, raw: list.bytes)
    }

    /// Sets the member `name` to a list with one object for each item. An item's texts are the values of the members
    /// `names`, in that order; a `nil` is left out. An empty list changes nothing.
    mutating func set(_ name: String, _ names: [StaticString], of items: [[String?]]) {
        guard !items.isEmpty else { return }
        var list = JSONWriter()
        list.array(items) { writer, item in
            writer.object { object in for case (let name, let text?) in zip(names, item) { object.member(name, text) } }
        }
        set(name, raw: list.bytes)
    }
}

/// The parts of `A:B:C`, or of `A:B[:C]`, whose last part is optional and may contain colons.
///
/// - Throws: `ValidationError` for a wrong number of parts.
func parts(_ option: String, _ text: String, _ form: String) throws -> [String] {
    let most = form.split(separator: ":").count
    let isOpen = form.hasSuffix("]")
    let parts = text.split(
        separator: ":", maxSplits: isOpen ? most - 1 : .max, omittingEmptySubsequences: false
    ).map(String.init)
    guard (isOpen ? most - 1 : most)...most ~= parts.count else {
        throw ValidationError("\(option) \(text): \(form) was expected.")
    }
    return parts
}
