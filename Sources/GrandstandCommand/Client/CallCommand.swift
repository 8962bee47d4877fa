internal import ArgumentParser
internal import GrandstandClient
internal import GrandstandContract
internal import GrandstandServer

/// `grandstand call`: any operation of openapi.yaml.
struct CallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Calls any operation of the API and prints its answer, unchanged.",
        discussion: """
            The parameters of the path, the query and the header are NAME=VALUE, by their names in openapi.yaml. BODY is \
            JSON; @FILE reads it from a file, and - from standard input.

            grandstand call --list
            grandstand call putEvent --help
            grandstand call listEvents state=live limit=10
            grandstand call getEvent key=derby
            grandstand call putEvent key=derby @derby.json
            grandstand call patchEvent key=derby '{"name": "Cup final"}'
            """,
        // The help of an operation comes from openapi.yaml.
        helpNames: [])

    @Flag(help: "List the operations.") var list = false
    @Flag(name: [.short, .long], help: "Show help information; with OPERATION, about this operation.") var help = false
    @OptionGroup(visibility: .hidden) var client: ClientOptions
    @Argument(
        help: "The operation, as --list shows it.", completion: .list(Contract.Operation.all.map(\.id)))
    var operation: String?
    @Argument(
        help: ArgumentHelp("Parameters and the body.", valueName: "name=value|body|@file|-"),
        completion: .custom { words, _, _ in Self.completions(for: words) })
    var inputs: [String] = []

    /// The words that complete a command line: the parameters of its operation.
    @Sendable private static func completions(for words: [String]) -> [String] {
        guard let operation = Contract.Operation.all.first(where: { words.contains($0.id) }) else { return [] }
        return OperationGuide(operation).parameters.map { "\($0.name)=" }
    }

    func validate() throws { if !list, !help { _ = try given() } }

    func run() async throws {
        if list { return print(Self.table) }
        if help { return print(try operation == nil ? Self.helpMessage() : guide().help) }
        let (guide, values, document) = try given()
        let call = GrandstandClient.Call(guide.operation, values, body: try document.map { try body("BODY", $0) })
        let answer = try await ServerAccess().answer(to: call)
        guard (200..<300).contains(answer.status) else { throw ServerAccess.refusal(ServerProblem(answer)) }
        let text = String(decoding: answer.body, as: UTF8.self)
        if !text.isEmpty { print(text, terminator: text.hasSuffix("\n") ? "" : "\n") }
    }

    private func guide() throws -> OperationGuide {
        guard let operation else {
            throw ValidationError("Name an operation: `grandstand call --list` shows them.")
        }
        guard let found = Contract.Operation.all.first(where: { $0.id == operation }) else {
            throw ValidationError("There is no operation \(operation). `grandstand call --list` shows all.")
        }
        return OperationGuide(found)
    }

    private static var table: String {
        let rows = Contract.Operation.all.map { [$0.id, $0.method, $0.path, OperationGuide($0).summary] }
        return AnswerTable.lines(rows).joined(separator: "\n")
    }

    /// The operation, its parameters and its body.
    ///
    /// - Throws: `ValidationError` that says what is wrong with the inputs and what the operation takes.
    private func given() throws -> (guide: OperationGuide, values: [String: String], document: String?) {
        let guide = try guide()
        func fault(_ text: String) -> ValidationError { ValidationError("\(text) Write \(guide.usage).") }
        var values: [String: String] = [:]
        var document: String?
        for input in inputs {
            if input == "-" || ["@", "{", "["].contains(input.first) {
                guard document == nil else { throw fault("There are two bodies.") }
                document = input
                continue
            }
            guard let sign = input.firstIndex(of: "=") else {
                throw fault("\(input) is neither NAME=VALUE nor a body, which is JSON, @FILE or -.")
            }
            let name = String(input[..<sign])
            let names = guide.parameters.map(\.name)
            guard names.contains(name) else {
                throw fault("\(guide.operation.id) has no parameter \(name), but \(names.joined(separator: ", ")).")
            }
            guard values.updateValue(String(input[sign...].dropFirst()), forKey: name) == nil else {
                throw fault("\(name) is given twice.")
            }
        }
        let missing = guide.parameters.filter { $0.isRequired && values[$0.name] == nil }.map(\.name)
        guard missing.isEmpty else { throw fault("\(missing.joined(separator: ", ")) is missing.") }
        guard document == nil || guide.bodySchema != nil else { throw fault("\(guide.operation.id) takes no body.") }
        return (guide, values, document)
    }
}

extension OperationGuide {
    /// The arguments of `grandstand call`, as its help shows them.
    var usage: String {
        let names = parameters.filter(\.isRequired).map { " \($0.name)=…" }.joined()
        return "grandstand call \(operation.id)\(names)" + (bodySchema != nil ? " BODY" : "")
    }

    /// The help for people.
    var help: String {
        var lines = ["\(operation.method) \(operation.path)", summary]
        if !details.isEmpty { lines.append(details) }
        lines += ["", "USAGE: \(usage)"]
        if let scopes = operation.scopes {
            let words = scopes.map(\.rawValue).joined(separator: " or ")
            lines.append(
                "KEY: \(words.isEmpty ? "any but one with only the scope device" : "scope \(words), or admin")")
        } else {
            lines.append("KEY: none is needed")
        }
        if !parameters.isEmpty { lines += ["", "PARAMETERS:"] }
        for parameter in parameters {
            let note = parameter.place == "query" ? "" : parameter.isRequired ? " (required)" : " (header)"
            lines.append("  \(parameter.name)=\(note)  \(parameter.text)")
        }
        if let example { lines += ["", "EXAMPLE OF BODY:", "  \(example)"] }
        return lines.joined(separator: "\n")
    }
}
