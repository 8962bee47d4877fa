internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandClient

/// What every client verb takes, and how it talks to the server.
struct ClientOptions: ParsableArguments {
    @Flag(help: "Print the server's JSON as it came.")
    var json = false

    /// Makes a call and returns its answer's JSON; `nil` for an answer without a body.
    ///
    /// - Parameter mediaType: of a body that is no JSON.
    /// - Throws: `StartError` with title and detail of a refusal, or with why there was no answer.
    func call(
        _ method: String, _ path: String, query: [(name: String, value: String?)] = [], body: [UInt8]? = nil,
        mediaType: String? = nil
    ) async throws -> JSONValue? {
        let headers = mediaType.map { ["Content-Type": $0] } ?? [:]
        return try ServerAccess.json(of: try await exchange(method, path, query: query, body: body, headers: headers))
    }

    /// Reads the resource at `path`, changes and writes it: what the change does not name stays as it is. When somebody
    /// else was faster it is read and changed again.
    ///
    /// - Parameters:
    ///   - readOnly: members of the answer that are the server's to say.
    ///   - mayCreate: whether one that is not there is made.
    func change(
        _ path: String, without readOnly: Set<String>, mayCreate: Bool = true, _ edit: (inout Draft) throws -> Void
    ) async throws -> JSONValue? {
        for _ in 0..<5 {
            let present = try await exchange("GET", path)
            var draft = Draft()
            var headers = ["If-None-Match": "*"]
            if present.status != 404 || !mayCreate {
                guard let value = try ServerAccess.json(of: present) else {
                    throw StartError("\(path): the answer is empty")
                }
                draft = Draft(value, without: readOnly)
                headers = present.entityTag.map { ["If-Match": $0] } ?? [:]
            }
            try edit(&draft)
            let answer = try await exchange("PUT", path, body: draft.bytes, headers: headers)
            if answer.status != 412 { return try ServerAccess.json(of: answer) }
        }
        throw StartError("\(path): others changed it each time; try again")
    }

    private func exchange(
        _ method: String, _ path: String, query: [(name: String, value: String?)] = [], body: [UInt8]? = nil,
        headers: [String: String] = [:]
    ) async throws -> GrandstandClient.Answer {
        try await ServerAccess().exchange(method, path, query: query, body: body, headers: headers)
    }

    /// Prints an answer: as it came, or as a table of these columns.
    func show(_ answer: JSONValue?, _ columns: [String]) {
        guard let answer else { return }
        print(json ? String(decoding: answer.bytes, as: UTF8.self) : AnswerTable(answer, columns: columns).text)
    }
}

/// A part of a path, percent-encoded.
func encoded(_ part: String) -> String { GrandstandClient.encoded(part) }

/// A JSON document out of an argument, as `content(of:)` finds it.
///
/// - Throws: `StartError` naming the option and what is wrong with the text.
func json(_ option: String, _ argument: String) throws -> [UInt8] {
    let text = try content(of: argument)
    do {
        _ = try JSONValue(parsing: text)
        return text
    } catch {
        throw StartError("\(option): \(error.detail)")
    }
}

/// The text of an argument, of standard input for `-`, or of a file for `@name`.
func content(of argument: String) throws -> [UInt8] {
    if argument == "-" { return Array(FileHandle.standardInput.readDataToEndOfFile()) }
    guard argument.hasPrefix("@") else { return Array(argument.utf8) }
    let path = String(argument.dropFirst())
    guard let data = FileManager.default.contents(atPath: path) else {
        throw ValidationError("The file \(path) cannot be read.")
    }
    return Array(data)
}
