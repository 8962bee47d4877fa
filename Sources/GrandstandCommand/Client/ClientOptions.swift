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
    /// - Throws: `ExitError` with title and detail of a refusal, or with the reason why there was no answer.
    func answer<Value>(_ call: GrandstandClient.Call<Value>) async throws -> JSONValue? {
        try ServerAccess.json(of: try await ServerAccess().answer(to: call))
    }

    /// Prints an answer: as JSON with `--json`, or only one of its members, or as a table that fits the terminal.
    ///
    /// - Throws: `ExitError` with the answer's warnings, if it does not have the member.
    func show(_ answer: JSONValue?, _ columns: [String] = [], only member: String? = nil) throws {
        guard let answer else { return }
        if json { return print(String(decoding: answer.bytes, as: UTF8.self)) }
        guard let member else { return print(AnswerTable(answer, columns: columns, width: Terminal.width).text) }
        guard let text = answer[member]?.string else {
            let warnings = answer["warnings"]?.elements?.compactMap(\.string) ?? []
            throw ExitError("\(answer["id"]?.string ?? ""): \(warnings.joined(separator: " "))")
        }
        print(text)
    }
}

/// The JSON document of an argument, which may name a file (`content(of:)`).
///
/// - Throws: `ExitError` with the option and the fault in the text.
func json(_ option: String, _ argument: String) throws -> [UInt8] {
    let text = try content(of: argument)
    do {
        _ = try JSONValue(parsing: text)
        return text
    } catch {
        throw ExitError("\(option): \(error.detail)")
    }
}

/// Like `json`, but returns the document as a request body.
func body(_ option: String, _ argument: String) throws -> RawJSON {
    try RawJSON(json: Data(try json(option, argument)))
}

/// The text of an argument, of standard input for `-`, or of a file for `@name`.
func content(of argument: String) throws -> [UInt8] {
    if argument == "-" { return stdinBytes }
    guard argument.hasPrefix("@") else { return Array(argument.utf8) }
    let path = String(argument.dropFirst())
    guard let data = FileManager.default.contents(atPath: path) else {
        throw ExitError("the file \(path) cannot be read")
    }
    return Array(data)
}

/// Standard input, read only once, so that an argument has the same text whenever it is read.
private let stdinBytes = Array(FileHandle.standardInput.readDataToEndOfFile())

/// Commands that wait for the progress of something and print it.
extension ClientOptions {
    /// What is known about the progress of something. Nothing is expected before `next`.
    typealias Progress = (text: String, isDone: Bool, next: Date?)

    /// Shows an accepted broadcast. With `wait`, first waits until every delivery is settled. A scheduled broadcast is
    /// settled after its send time.
    func showSettled(_ accepted: JSONValue?, if wait: Bool) async throws {
        guard wait, let id = accepted?["id"]?.string else { return try show(accepted) }
        let settled = try await poll(.getBroadcast(id)) { broadcast -> Progress in
            if broadcast.state == .scheduled, let sendAt = broadcast.sendAt {
                return ("scheduled: waits until \(RFC3339.text(sendAt)); Ctrl-C leaves it scheduled", false, sendAt)
            }
            let counts = broadcast.counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            let text = counts.isEmpty ? "\(broadcast.state)" : counts.joined(separator: ", ")
            return (text, broadcast.state == .done || broadcast.state == .cancelled, nil)
        }
        try show(settled)
    }

    /// Returns the event as soon as none of its channels is pending.
    func awaitChannels(of key: String) async throws -> JSONValue? {
        try await poll(.getEvent(key)) { event -> Progress in
            let open = event.audiences.filter { $0.channel.state == .pending }.count
            return ("channels: \(event.audiences.count - open) of \(event.audiences.count)", open == 0, nil)
        }
    }

    /// Repeats the request until the work is done, and reports each change of the progress. If the server is away, this
    /// method waits for the server, because the server has already accepted the work.
    func poll<Value>(
        _ call: GrandstandClient.Call<Value>, _ describe: (Value) -> Progress
    ) async throws -> JSONValue? {
        let server = try ServerAccess()
        var said: String?
        func say(_ text: String, isLast: Bool = false) {
            if text != said { Terminal.progress(text, isLast: isLast) }
            said = text
        }
        while true {
            do {
                let reply = try await server.client.reply(to: call)
                let (text, isDone, next) = describe(reply.value)
                say(text, isLast: isDone)
                if isDone { return try ServerAccess.json(of: reply.answer) }
                // The pause is short in any case, because clocks may differ.
                try await Task.sleep(for: .seconds(min(max(next?.timeIntervalSinceNow ?? 0, 0.25), 5)))
            } catch let problem as ServerProblem where problem.status < 500 && problem.status != 429 {
                throw ServerAccess.refusal(problem)
            } catch  where error is ServerProblem || error is URLError {
                say(server.describe(error))
                try await Task.sleep(for: .seconds(2))
            }
        }
    }
}

/// The terminal that output goes to.
enum Terminal {
    /// The columns of standard output; `nil`: standard output is not a terminal. The variable `COLUMNS` overrides the
    /// number of columns.
    static var width: Int? {
        if let text = ProcessInfo.processInfo.environment["COLUMNS"], let columns = Int(text), columns > 0 {
            return columns
        }
        guard isOutput else { return nil }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Whether standard output is a terminal.
    static var isOutput: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Prints a line to standard error.
    static func note(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

    /// Prints the progress to standard error: on a terminal in place, otherwise a new line for each change.
    static func progress(_ text: String, isLast: Bool = false) {
        guard isatty(STDERR_FILENO) == 1 else { return note(text) }
        FileHandle.standardError.write(Data("\r\u{1B}[K\(text)\(isLast ? "\n" : "")".utf8))
    }
}

/// The address of a running server, and the key for its calls.
struct ServerAccess: Sendable {
    let client: GrandstandClient
    private let address: String
    private let hasKey: Bool

    /// - Throws: `ExitError` for an invalid address.
    init() throws {
        func value(_ name: String) -> String? {
            ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        let address = value("GRANDSTAND_URL") ?? "http://127.0.0.1:8080"
        guard let url = URL(string: address), url.host() != nil else {
            throw ExitError("GRANDSTAND_URL: \(address) is not a URL such as http://127.0.0.1:8080")
        }
        let secret = value("GRANDSTAND_API_KEY")
        self.address = address
        hasKey = secret != nil
        // A person waits for the answer, so the attempts end within about two seconds if no server answers. A slow
        // server may take a minute.
        client = GrandstandClient(
            server: url, key: secret, retry: .init(attempts: 4, firstWait: 0.3), timeout: 60)
    }

    /// Makes a call and returns its answer, whatever its status.
    ///
    /// - Throws: `ExitError` with the reason why there was no answer, or if the key is missing.
    func answer<Value>(to call: GrandstandClient.Call<Value>) async throws -> GrandstandClient.Answer {
        guard hasKey || call.operation.scopes == nil else {
            throw ExitError(
                "GRANDSTAND_API_KEY: set it to a key's secret. `grandstand keys create` creates one on the server's machine; "
                    + "`grandstand key create` does this from anywhere, with an admin key")
        }
        do {
            return try await client.exchange(call)
        } catch let error as URLError {
            throw noAnswer(error)
        }
    }

    /// The error for a server that does not answer.
    private func noAnswer(_ error: URLError) -> ExitError {
        ExitError(
            "\(address) does not answer: \(error.localizedDescription); is the server running, and is GRANDSTAND_URL correct?"
        )
    }

    /// Says why the server cannot be asked now.
    func describe(_ error: any Error) -> String {
        (error as? URLError).map { noAnswer($0).description } ?? "\(address): \(error)"
    }

    /// The JSON of an answer; `nil` for an answer without a body.
    ///
    /// - Throws: `ExitError` with title, detail and fields of a refusal.
    static func json(of answer: GrandstandClient.Answer) throws -> JSONValue? {
        guard (200..<300).contains(answer.status) else { throw refusal(ServerProblem(answer)) }
        guard !answer.body.isEmpty else { return nil }
        do {
            return try JSONValue(parsing: Array(answer.body), maximumValues: .max)
        } catch {
            throw ExitError("The answer is not JSON, so it is not from Grandstand: is GRANDSTAND_URL correct?")
        }
    }

    /// The message for a refusal, with advice that the server cannot give.
    static func refusal(_ problem: ServerProblem) -> ExitError {
        let faults = problem.errors.map { "\n  \($0.pointer): \($0.detail)" }.joined()
        let remedy: String? =
            switch problem.kind {
            case .unauthenticated: "GRANDSTAND_API_KEY is not a key of this server, or it has expired or was revoked."
            case .internalError: problem.requestId.map { "The server's log has the error under \($0)." }
            case nil where problem.slug.isEmpty:
                "This answer is not from Grandstand: is GRANDSTAND_URL correct?"
            default: nil
            }
        return ExitError(problem.description + faults + (remedy.map { "\n  \($0)" } ?? ""))
    }
}
