internal import ArgumentParser

// ArgumentParser needs a type for each command, and takes its inputs from the type's mirror. These types take both from a
// row of `Noun.table`, so that a verb is a row and no type.

/// A type that stands for a number: `Next<Next<First>>` for 2.
protocol Place {
    static var number: Int { get }
    static var next: any Place.Type { get }
}

enum First: Place {
    static var number: Int { 0 }
    static var next: any Place.Type { Next<First>.self }
}

enum Next<P: Place>: Place {
    static var number: Int { P.number + 1 }
    static var next: any Place.Type { Next<Next<P>>.self }
}

/// The command of the noun at place `N`.
struct NounCommand<N: Place>: AsyncParsableCommand {
    static var noun: Noun { Noun.table[N.number] }

    static var configuration: CommandConfiguration {
        let commands = forPlaces(noun.verbs.count) { verb($0) }
        return CommandConfiguration(
            commandName: noun.name, abstract: noun.abstract, subcommands: commands,
            defaultSubcommand: noun.hasDefault ? commands[0] : nil)
    }

    fileprivate static func verb<V: Place>(_ place: V.Type) -> any ParsableCommand.Type { VerbCommand<N, V>.self }
}

/// The command of the noun's verb at place `V`.
struct VerbCommand<N: Place, V: Place>: AsyncParsableCommand {
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
struct Inputs<N: Place, V: Place>: ParsableArguments, CustomReflectable {
    private(set) var values: [String: [String]] = [:]

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: InputKey.self)
        for input in VerbCommand<N, V>.verb.inputs { values[input.name] = try input.texts(in: container) }
    }

    var customMirror: Mirror {
        let children = VerbCommand<N, V>.verb.inputs.map { (label: String?.some($0.name), value: $0.definition) }
        return Mirror(self, children: children)
    }
}

extension Noun {
    /// The commands of these nouns.
    static func commands(_ names: String...) -> [any ParsableCommand.Type] {
        let all = forPlaces(table.count) { command($0) }
        return names.compactMap { name in table.firstIndex { $0.name == name }.map { all[$0] } }
    }

    private static func command<N: Place>(_ place: N.Type) -> any ParsableCommand.Type {
        let noun = table[N.number]
        return noun.verbs.map(\.name) == [noun.name] ? VerbCommand<N, First>.self : NounCommand<N>.self
    }
}

/// A command for each of the first `count` places.
private func forPlaces(
    _ count: Int, _ command: (any Place.Type) -> any ParsableCommand.Type
) -> [any ParsableCommand.Type] {
    var place: any Place.Type = First.self
    return (0..<count).map { _ in
        defer { place = place.next }
        return command(place)
    }
}
