internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandServer
internal import JSON

/// The options of every client verb, and the calls to the server.
struct ClientOptions: ParsableArguments {
    @Flag(help: "Print the JSON of the server's answer, unchanged.")
    var json = false

    /// Makes a call and returns the JSON of its answer; `nil` for an answer without a body.
    ///
    /// - Throws: `StartError` with title and detail of a refusal, or with the reason why there was no answer.
    func answer<Value>(_ call: GrandstandClient.Call<Value>) async throws -> JSONValue? {
        try ServerAccess.json(of: try await ServerAccess().answer(to: call))
    }

    /// Prints an answer: as JSON with `--json`, or only one of its members, or as a table that fits the terminal.
    ///
    /// - Throws: `StartError` with the answer's warnings, if it does not have the member.
    func show(_ answer: JSONValue?, _ columns: [String] = [], only member: String? = nil) throws {
        guard let answer else { return }
        if json { return print(String(decoding: answer.bytes, as: UTF8.self)) }
        guard let member else { return print(AnswerTable(answer, columns: columns, width: Terminal.width).text) }
        guard let text = answer[member]?.string else {
            let warnings = answer["warnings"]?.elements?.compactMap(\.string) ?? []
            throw StartError("\(answer["id"]?.string ?? ""): \(warnings.joined(separator: " "))")
        }
        print(text)
    }
}

/// The JSON document of an argument, which may name a file (`content(of:)`).
///
/// - Throws: `StartError` with the option and the fault in the text.
func json(_ option: String, _ argument: String) throws -> [UInt8] {
    let text = try content(of: argument)
    do {
        _ = try JSONValue(parsing: text)
        return text
    } catch {
        throw StartError("\(option): \(error.detail)")
    }
}

/// Like `json`, but returns the document as a request body.
func body(_ option: String, _ argument: String) throws -> RawJSON {
    try RawJSON(json: Data(try json(option, argument)))
}

/// The text of an argument, of standard input for `-`, or of a file for `@name`.
func content(of argument: String) throws -> [UInt8] {
    if argument == "-" { return standardInput }
    guard argument.hasPrefix("@") else { return Array(argument.utf8) }
    let path = String(argument.dropFirst())
    guard let data = FileManager.default.contents(atPath: path) else {
        throw StartError("the file \(path) cannot be read")
    }
    return Array(data)
}

/// Standard input, read only once, so that an argument has the same text whenever it is read.
private let standardInput = Array(FileHandle.standardInput.readDataToEndOfFile())
