internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandServer
internal import JSON

// `list`, `get`, `put` and `delete` are one generic command each. A noun describes its verbs as values, and lists the
// commands as subcommands: `ListCommand<Self>.self`.

/// A verb of a noun: the command's name and help, and the API call for its arguments.
struct Verb<Arguments: ParsableArguments, Value: Sendable>: Sendable {
    let configuration: CommandConfiguration
    /// The columns of a list, as `AnswerTable` names them.
    let columns: [String]
    /// The only member of the answer that is printed without `--json`; `nil`: all.
    let member: String?
    let call: @Sendable (Arguments) throws -> GrandstandClient.Call<Value>

    init(
        _ name: String, _ abstract: String, discussion: String = "", aliases: [String] = [], columns: [String] = [],
        only member: String? = nil, call: @escaping @Sendable (Arguments) throws -> GrandstandClient.Call<Value>
    ) {
        configuration = CommandConfiguration(
            commandName: name, abstract: abstract, discussion: discussion, aliases: aliases)
        self.columns = columns
        self.member = member
        self.call = call
    }
}

/// A kind of resource with IDs.
protocol Noun {
    /// The help of the argument that takes the ID.
    static var id: ArgumentHelp { get }
}

/// The ID of a resource.
struct ID<N: Noun>: ParsableArguments {
    @Argument(help: N.id) var id: String
}

/// The ID of a resource that belongs to an app in an environment.
struct IDInApp<N: Noun>: ParsableArguments {
    @OptionGroup var target: AppOptions
    @Argument(help: N.id) var id: String
}

struct NoArguments: ParsableArguments {}

/// A noun that is listed page by page.
protocol Listed {
    associatedtype Filter: ParsableArguments
    associatedtype Item: Sendable & Hashable & Codable
    static var list: Verb<Filter, GrandstandClient.Page<Item>> { get }
}

struct ListCommand<N: Listed>: AsyncParsableCommand {
    static var configuration: CommandConfiguration { N.list.configuration }
    @OptionGroup var client: ClientOptions
    @OptionGroup var page: PageOptions
    @OptionGroup var filter: N.Filter

    func run() async throws {
        try await client.show(page.of(N.list.call(filter)), N.list.columns)
    }
}

/// A verb with a single call whose answer is shown: `get` and similar ones.
protocol Shown {
    associatedtype Subject: ParsableArguments
    associatedtype Shape: Sendable
    static var show: Verb<Subject, Shape> { get }
}

struct ShowCommand<N: Shown>: AsyncParsableCommand {
    static var configuration: CommandConfiguration { N.show.configuration }
    @OptionGroup var client: ClientOptions
    @OptionGroup var subject: N.Subject

    func run() async throws {
        try client.show(try await client.answer(N.show.call(subject)), N.show.columns, only: N.show.member)
    }
}

/// A verb with a single call that deletes or ends something. Its answer has no body.
protocol Deletable {
    associatedtype Target: ParsableArguments
    static var delete: Verb<Target, Void> { get }
}

struct DeleteCommand<N: Deletable>: AsyncParsableCommand {
    static var configuration: CommandConfiguration { N.delete.configuration }
    @OptionGroup var client: ClientOptions
    @OptionGroup var target: N.Target

    func run() async throws { _ = try await client.answer(N.delete.call(target)) }
}

/// A noun with `put`: the command reads the resource, changes it and writes it. Fields without an option keep their
/// values.
protocol Changeable: Noun {
    associatedtype Fields: FieldOptions
    associatedtype Resource: Sendable
    static var put: Change<Resource> { get }
}

/// The options that change a resource.
protocol FieldOptions: ParsableArguments {
    func apply(to draft: inout Draft) throws

    /// What to show after an accepted change. The default is `answer`.
    func result(_ answer: JSONValue?, of id: String, _ client: ClientOptions) async throws -> JSONValue?
}

extension FieldOptions {
    func result(_ answer: JSONValue?, of id: String, _ client: ClientOptions) async throws -> JSONValue? { answer }
}

/// The description of a noun's `put`: the command's name and help, and the two calls.
struct Change<Resource: Sendable>: Sendable {
    var configuration: CommandConfiguration
    /// Whether `put` creates a resource that does not exist.
    var mayCreate = true
    var get: @Sendable (_ id: String) -> GrandstandClient.Call<Resource>
    var put: @Sendable (_ id: String, RawJSON) -> GrandstandClient.Call<Resource>
    /// The declaration of a resource: the answer of `get` without the members that only the server sets.
    var declared: @Sendable (JSONValue) -> Draft
}

struct PutCommand<N: Changeable>: AsyncParsableCommand {
    static var configuration: CommandConfiguration { N.put.configuration }
    @OptionGroup var client: ClientOptions
    @OptionGroup var further: FurtherFields
    @OptionGroup var target: ID<N>
    @OptionGroup var fields: N.Fields

    func run() async throws {
        try client.show(try await fields.result(try await change(), of: target.id, client))
    }

    private func edit(_ draft: inout Draft) throws {
        try further.apply(to: &draft)
        try fields.apply(to: &draft)
    }

    /// If somebody else changes the resource in the meantime, it is read and changed again.
    private func change() async throws -> JSONValue? {
        // Check the options before the server is asked.
        var unused = Draft()
        try edit(&unused)
        let server = try ServerAccess()
        let get = N.put.get(target.id)
        for _ in 0..<5 {
            let present = try await server.answer(to: get)
            var draft = Draft()
            let isNew = present.status == 404 && N.put.mayCreate
            if !isNew {
                guard let value = try ServerAccess.json(of: present) else {
                    throw StartError("\(get.path): the answer is empty")
                }
                draft = N.put.declared(value)
            }
            try edit(&draft)
            let put = N.put.put(target.id, try draft.json)
            let answer = try await server.answer(
                to: isNew ? put.ifNoneExists() : present.entityTag.map(put.ifMatch) ?? put)
            if answer.status != 412 { return try ServerAccess.json(of: answer) }
        }
        throw StartError("\(get.path): somebody else changed it each time; try again")
    }
}
