internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandServer
internal import JSON

/// A request body that is being built: members by name, each with JSON text.
struct Draft {
    private var members: [(name: String, json: [UInt8])] = []

    init() {}

    /// Makes a draft from the answer of a GET, without null and the members that PUT does not accept.
    ///
    /// - Parameter readOnly: the members to leave out. All others stay, so that a field of a newer server is written
    ///   back or refused by name, but never silently dropped.
    init(_ present: JSONValue, without readOnly: Set<String> = []) {
        guard case .object(let all) = present.kind else { return }
        for member in all where !readOnly.contains(member.name) && !member.value.isNull {
            set(member.name, raw: member.value.bytes)
        }
    }

    var bytes: [UInt8] {
        JSONWriter.text { object in
            for member in members {
                object.name(dynamic: member.name)
                object.raw(member.json)
            }
        }
    }

    var isEmpty: Bool { members.isEmpty }

    /// The body in the type that API calls use.
    var json: RawJSON { get throws { try RawJSON(json: Data(bytes)) } }

    subscript(name: String) -> JSONValue? {
        members.first { $0.name == name }.flatMap { try? JSONValue(parsing: $0.json) }
    }

    /// Sets a member. `nil` changes nothing. In a declaration `null` counts as left out, in a patch it removes the member.
    mutating func set(_ name: String, raw json: [UInt8]?) {
        guard let json else { return }
        let place = members.firstIndex { $0.name == name }
        if let place {
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

    /// Sets a list. An empty list changes nothing.
    mutating func set(_ name: String, list: [some Encodable]) {
        if !list.isEmpty { set(name, raw: JSONWriter.text(list)) }
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
