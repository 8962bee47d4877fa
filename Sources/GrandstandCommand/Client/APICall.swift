internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandClient
internal import JSON

/// What every client verb takes, and how it talks to the server.
struct ClientOptions: ParsableArguments {
    @Flag(help: "Print the server's JSON as it came.")
    var json = false

    /// Makes a call and returns its answer's JSON; `nil` for an answer without a body.
    ///
    /// - Throws: `StartError` with title and detail of a refusal, or with why there was no answer.
    func answer<Value>(_ call: GrandstandClient.Call<Value>) async throws -> JSONValue? {
        try ServerAccess.json(of: try await ServerAccess().answer(to: call))
    }

    /// Makes a call and prints its answer: as it came, or, of a list, as a table of these columns.
    func show<Value>(_ call: GrandstandClient.Call<Value>, _ columns: [String] = []) async throws {
        show(try await answer(call), columns)
    }

    /// Asks for a part of a list and prints it.
    func list<Item>(
        _ call: GrandstandClient.Call<GrandstandClient.Page<Item>>, _ page: PageOptions, _ columns: [String]
    ) async throws {
        try await show(call.page(limit: page.limit, after: page.cursor), columns)
    }

    /// Makes a call whose answer says nothing.
    func send(_ call: GrandstandClient.Call<Void>) async throws { _ = try await answer(call) }

    /// Reads a resource, changes and writes it: what the change does not name stays as it is. When somebody else was faster
    /// it is read and changed again.
    ///
    /// - Parameters:
    ///   - put: the call that writes this body.
    ///   - readOnly: members of the answer that are the server's to say.
    ///   - mayCreate: whether one that is not there is made.
    func change<Value>(
        _ get: GrandstandClient.Call<Value>, _ put: (RawJSON) -> GrandstandClient.Call<Value>,
        without readOnly: Set<String>, mayCreate: Bool = true, _ edit: (inout Draft) throws -> Void
    ) async throws -> JSONValue? {
        let server = try ServerAccess()
        for _ in 0..<5 {
            let present = try await server.answer(to: get)
            var draft = Draft()
            var condition: (GrandstandClient.Call<Value>) -> GrandstandClient.Call<Value> = { $0.ifNoneExists() }
            if present.status != 404 || !mayCreate {
                guard let value = try ServerAccess.json(of: present) else {
                    throw StartError("\(get.path): the answer is empty")
                }
                draft = Draft(value, without: readOnly)
                condition = { call in present.entityTag.map { call.ifMatch($0) } ?? call }
            }
            try edit(&draft)
            let answer = try await server.answer(to: condition(put(try draft.json)))
            if answer.status != 412 { return try ServerAccess.json(of: answer) }
        }
        throw StartError("\(get.path): others changed it each time; try again")
    }

    /// Prints an answer: as it came, or as a table that fits the terminal.
    func show(_ answer: JSONValue?, _ columns: [String] = []) {
        guard let answer else { return }
        print(
            json
                ? String(decoding: answer.bytes, as: UTF8.self)
                : AnswerTable(answer, columns: columns, width: Terminal.width).text)
    }
}

/// Which app, in which environment.
struct AppOptions: ParsableArguments {
    @Argument(help: "The bundle ID.") var bundleID: String
    @Argument(
        help: "development or production.", completion: .list(["development", "production"])) var environment: String

    var app: GrandstandClient.AppEnvironment { .init(bundleID, .init(rawValue: environment)) }
}

/// Which part of a list.
struct PageOptions: ParsableArguments {
    @Option(help: "Entries at most, 1 to 200.") var limit: Int?
    @Option(help: "Where the previous page ended.") var cursor: String?
}

/// A time as an option has it.
struct Moment: ExpressibleByArgument {
    let date: Date

    init?(argument: String) {
        guard let date = RFC3339.date(argument) else { return nil }
        self.date = date
    }
}

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

/// The same as a body.
func body(_ option: String, _ argument: String) throws -> RawJSON {
    try RawJSON(json: Data(try json(option, argument)))
}

/// The text of an argument, of standard input for `-`, or of a file for `@name`.
func content(of argument: String) throws -> [UInt8] {
    if argument == "-" { return Array(FileHandle.standardInput.readDataToEndOfFile()) }
    guard argument.hasPrefix("@") else { return Array(argument.utf8) }
    let path = String(argument.dropFirst())
    guard let data = FileManager.default.contents(atPath: path) else {
        throw StartError("the file \(path) cannot be read")
    }
    return Array(data)
}
