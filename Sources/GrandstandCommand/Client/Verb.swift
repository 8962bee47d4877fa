internal import ArgumentParser
internal import Grandstand
internal import GrandstandClient
internal import GrandstandContract
internal import GrandstandServer
internal import JSON

/// A noun of the command line with its verbs: a row of `Noun.table`.
struct Noun: Sendable {
    static let table: [Noun] = organising + operating + [keys, key]

    let name: String
    let abstract: String
    /// A noun whose only verb has its own name is that verb.
    let verbs: [Verb]
    /// Whether the first verb may be left out.
    var hasDefault = false

    init(_ name: String, _ abstract: String, hasDefault: Bool = false, _ verbs: [Verb]) {
        (self.name, self.abstract, self.hasDefault, self.verbs) = (name, abstract, hasDefault, verbs)
    }

    /// A noun that is its only verb.
    init(_ verb: [Verb]) { self.init(verb[0].name, "", verb) }
}

/// A verb: the operation of the API that it calls, and how people write it. Help and inputs come from openapi.yaml.
struct Verb: Sendable {
    let name: String
    let operation: Contract.Operation
    let abstract: String
    let discussion: String
    let aliases: [String]
    /// The columns of a list, as `AnswerTable` names them.
    let columns: [String]
    /// The only member of the answer that is printed without `--json`; `nil`: all.
    let shownMember: String?
    let inputs: [Input]
    let run: @Sendable (Invocation) async throws -> Void

    /// - Parameters:
    ///   - abstract: in place of the operation's summary.
    ///   - names: how people write parameters and members whose name is not that of openapi.yaml with hyphens.
    ///   - left: parameters and members that are no inputs.
    ///   - body: the shape of the body, whose members become options.
    ///   - isChange: whether members that are not given stay as they are, and `--fields` gives any member.
    ///   - further: more inputs. One with the name of a parameter or member takes its place.
    init(
        _ name: String, _ operation: Contract.Operation, _ abstract: String? = nil, discussion: String = "",
        aliases: [String] = [], columns: String = "", only member: String? = nil, as names: [String: String] = [:],
        without left: Set<String> = [], body: RequestShape? = nil, isChange: Bool = false, _ further: [Input] = [],
        run: @escaping @Sendable (Invocation) async throws -> Void = { try await $0.callAndShow() }
    ) {
        let guide = OperationGuide(operation)
        func spelled(_ api: String) -> String { names[api] ?? Input.name(for: api) }
        var inputs = guide.parameters.filter { $0.place != "header" && !left.contains($0.name) }
            .map { Input.parameter($0, named: spelled($0.name)) }
        if case .object(let members, _)? = body {
            for member in members where !left.contains(member.name) {
                inputs.append(
                    .member(
                        member, named: spelled(member.name), guide.help(member.name),
                        isRequired: member.isRequired && !isChange))
            }
        }
        for input in further {
            if let place = inputs.firstIndex(where: { $0.name == input.name }) {
                inputs[place] = input
            } else {
                inputs.append(input)
            }
        }
        (self.name, self.operation, self.discussion) = (name, operation, discussion)
        (self.aliases, self.shownMember, self.run) = (aliases, member, run)
        self.abstract = abstract ?? guide.summary
        self.columns = columns.split(separator: " ").map(String.init)
        self.inputs = inputs + (isChange ? [.fieldsOption] : [])
    }
}

/// A verb with the values that somebody gave.
struct Invocation: Sendable {
    let verb: Verb
    let values: [String: [String]]
    let client: ClientOptions

    /// The first text of an input; `nil`: it was not given.
    subscript(name: String) -> String? { values[name]?.first }

    func all(_ name: String) -> [String] { values[name] ?? [] }

    func has(_ name: String) -> Bool { !all(name).isEmpty }

    /// Writes the inputs for the body into `draft`.
    func apply(to draft: inout JSONDraft) throws {
        for input in verb.inputs {
            guard case .members(let name) = input.use, let text = self[input.name] else { continue }
            guard case .object(let members) = try JSONValue(parsing: try json(name, text)).kind else {
                throw ExitError("\(name): a JSON object was expected")
            }
            for member in members { draft[member.name] = member.value.bytes }
        }
        for input in verb.inputs {
            if case .body(let set) = input.use { try set(&draft, all(input.name)) }
        }
    }

    /// A call with the inputs.
    ///
    /// - Parameters:
    ///   - operation: in place of the verb's own.
    ///   - further: more parameters, by their names in openapi.yaml.
    ///   - body: in place of the inputs for the body.
    func makeCall(
        _ operation: Contract.Operation? = nil, with further: [String: String] = [:], body: RawJSON? = nil
    ) throws -> GrandstandClient.Call<GrandstandClient.Answer> {
        let operation = operation ?? verb.operation
        var (parameters, body) = (further, body)
        for input in verb.inputs {
            switch input.use {
            case .parameter(let name): parameters[name] = self[input.name]
            case .document(let name): body = try self[input.name].map { try GrandstandCommand.body(name, $0) }
            case .members, .body, .verb: break
            }
        }
        if body == nil, ["POST", "PUT", "PATCH"].contains(operation.method) {
            var draft = JSONDraft()
            try apply(to: &draft)
            if draft != JSONDraft() { body = draft.json }
        }
        return .init(operation, parameters, body: body)
    }

    /// Makes the verb's call and prints the answer.
    func callAndShow(with further: [String: String] = [:], body: RawJSON? = nil) async throws {
        try show(try await client.answer(try makeCall(with: further, body: body)))
    }

    /// Prints an answer, as the verb's row says.
    func show(_ answer: JSONValue?) throws { try client.show(answer, verb.columns, only: verb.shownMember) }

    /// Reads a resource, changes what the inputs say and writes it, so that members without an option keep their values.
    /// If somebody else changes the resource in the meantime, it is read and changed again.
    ///
    /// - Parameters:
    ///   - get: reads the resource. If it does not exist, it is created.
    ///   - declared: the declaration of a resource: the answer without the members that only the server sets.
    func putMerged(over get: Contract.Operation, _ declared: (JSONValue) -> JSONDraft) async throws -> JSONValue? {
        // Check the inputs before the server is asked.
        var unused = JSONDraft()
        try apply(to: &unused)
        let server = try ServerAccess()
        let get = try makeCall(get, body: nil)
        for _ in 0..<5 {
            let present = try await server.answer(to: get)
            var draft = JSONDraft()
            let isNew = present.status == 404
            if !isNew {
                guard let value = try ServerAccess.json(of: present) else {
                    throw ExitError("\(get.path): the answer is empty")
                }
                draft = declared(value)
            }
            try apply(to: &draft)
            let put = try makeCall(body: draft.json)
            let answer = try await server.answer(
                to: isNew ? put.ifNoneExists() : present.entityTag.map(put.ifMatch) ?? put)
            if answer.status != 412 { return try ServerAccess.json(of: answer) }
        }
        throw ExitError("\(get.path): somebody else changed it each time; try again")
    }
}

// ArgumentParser needs a type for each command, and takes its inputs from the type's mirror. These types take both from a
// row of `Noun.table`, so that a verb is a row and no type.

/// A type that stands for a number: `NextRow<NextRow<FirstRow>>` for 2.
protocol RowNumber { static var number: Int { get } }

enum FirstRow: RowNumber { static var number: Int { 0 } }

enum NextRow<P: RowNumber>: RowNumber { static var number: Int { P.number + 1 } }

extension RowNumber { static var next: any RowNumber.Type { NextRow<Self>.self } }

/// The command of the noun in row `N`.
struct NounCommand<N: RowNumber>: AsyncParsableCommand {
    static var noun: Noun { Noun.table[N.number] }

    static var configuration: CommandConfiguration {
        let commands = makeCommands(noun.verbs.count) { command($0) }
        return CommandConfiguration(
            commandName: noun.name, abstract: noun.abstract, subcommands: commands,
            defaultSubcommand: noun.hasDefault ? commands[0] : nil)
    }

    fileprivate static func command<V: RowNumber>(_ row: V.Type) -> any ParsableCommand.Type { VerbCommand<N, V>.self }
}

/// The command of the noun's verb in row `V`.
struct VerbCommand<N: RowNumber, V: RowNumber>: AsyncParsableCommand {
    fileprivate static var verb: Verb { Noun.table[N.number].verbs[V.number] }

    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: verb.name, abstract: verb.abstract, discussion: verb.discussion, aliases: verb.aliases)
    }

    @OptionGroup var client: ClientOptions
    @OptionGroup var inputs: Inputs<N, V>

    func validate() throws {
        for input in Self.verb.inputs { try inputs.values[input.name]?.forEach(input.check) }
    }

    func run() async throws {
        try await Self.verb.run(Invocation(verb: Self.verb, values: inputs.values, client: client))
    }
}

/// The inputs of a verb, by their names.
struct Inputs<N: RowNumber, V: RowNumber>: ParsableArguments, CustomReflectable {
    private(set) var values: [String: [String]] = [:]

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: InputKey.self)
        for input in VerbCommand<N, V>.verb.inputs { values[input.name] = try input.texts(in: container) }
    }

    var customMirror: Mirror {
        let children = VerbCommand<N, V>.verb.inputs.map { (label: String?.some($0.name), value: $0.wrapper) }
        return Mirror(self, children: children)
    }
}

extension Noun {
    /// The commands of these nouns.
    static func commands(_ names: String...) -> [any ParsableCommand.Type] {
        let all = makeCommands(table.count) { command($0) }
        return names.compactMap { name in table.firstIndex { $0.name == name }.map { all[$0] } }
    }

    private static func command<N: RowNumber>(_ row: N.Type) -> any ParsableCommand.Type {
        let noun = table[N.number]
        return noun.verbs.map(\.name) == [noun.name] ? VerbCommand<N, FirstRow>.self : NounCommand<N>.self
    }
}

/// A command for each of the first `count` rows.
private func makeCommands(
    _ count: Int, _ command: (any RowNumber.Type) -> any ParsableCommand.Type
) -> [any ParsableCommand.Type] {
    var row: any RowNumber.Type = FirstRow.self
    return (0..<count).map { _ in
        defer { row = row.next }
        return command(row)
    }
}
