internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandServer
internal import JSON

/// An argument, option or flag of a verb, and what the request does with its value.
struct Input: Sendable {
    /// What a request does with the texts that were given. A flag that was given has the text `true`.
    enum Use: Sendable {
        /// They are the parameter of this name in openapi.yaml.
        case parameter(String)
        /// The text is the whole body: JSON, `@file` or `-`. The value is what people call the input.
        case document(String)
        /// The text has members of the body: a JSON object, `@file` or `-`. Other inputs override them. The value is what
        /// people call the input.
        case members(String)
        /// They change the body.
        case body(@Sendable (inout Draft, [String]) throws -> Void)
        /// The verb reads them itself.
        case own
    }

    /// As people write it, such as `starts-at`.
    let name: String
    var use: Use
    /// Checks a text before anything is asked. Throws `ValidationError`.
    var check: @Sendable (String) throws -> Void = { _ in }
    /// ArgumentParser's definition: an `Argument`, `Option` or `Flag`.
    let definition: @Sendable () -> Any
    /// The texts that were given.
    let read: @Sendable (KeyedDecodingContainer<InputKey>) throws -> [String]

    private init<Wrapper: Decodable & SendableMetatype>(
        _ name: String, _ use: Use?, _ definition: @escaping @Sendable () -> Wrapper,
        _ texts: @escaping @Sendable (Wrapper) -> [String]
    ) {
        self.name = name
        self.use = use ?? .parameter(name)
        self.definition = definition
        read = { texts(try $0.decode(Wrapper.self, forKey: InputKey(stringValue: name))) }
    }

    // MARK: Arguments

    static func argument(_ name: String, _ help: String, words: [String] = [], use: Use? = nil) -> Input {
        Input(
            name, use,
            { Argument<String>(help: .init(Self.help(help, words), valueName: name), completion: completion(words)) }
        ) {
            [$0.wrappedValue]
        }
    }

    static func optionalArgument(_ name: String, _ help: String, use: Use) -> Input {
        Input(name, use, { Argument<String?>(help: .init(help, valueName: name)) }) { texts($0.wrappedValue) }
    }

    static func arguments(_ name: String, _ help: String) -> Input {
        Input(name, .own, { Argument<[String]>(wrappedValue: [], help: .init(help, valueName: name)) }) {
            $0.wrappedValue
        }
    }

    // MARK: Options and flags

    static func option(
        _ name: String, _ help: String, words: [String] = [], isRequired: Bool = false, use: Use? = nil
    ) -> Input {
        let (spelling, completion) = (NameSpecification.customLong(name), completion(words))
        let help = ArgumentHelp(Self.help(help, words))
        guard !isRequired else {
            return Input(name, use, { Option<String>(name: spelling, help: help, completion: completion) }) {
                [$0.wrappedValue]
            }
        }
        return Input(name, use, { Option<String?>(name: spelling, help: help, completion: completion) }) {
            texts($0.wrappedValue)
        }
    }

    /// An option that may be repeated.
    static func options(
        _ name: String, _ help: String, words: [String] = [], isRequired: Bool = false, use: Use
    ) -> Input {
        let (spelling, completion) = (NameSpecification.customLong(name), completion(words))
        let help = ArgumentHelp(Self.help(help, words) + " May be repeated.")
        return Input(
            name, use,
            {
                isRequired
                    ? Option<[String]>(name: spelling, help: help, completion: completion)
                    : Option<[String]>(wrappedValue: [], name: spelling, help: help, completion: completion)
            }
        ) { $0.wrappedValue }
    }

    static func integer(_ name: String, _ help: String, use: Use? = nil) -> Input {
        Input(name, use, { Option<Int?>(name: .customLong(name), help: .init(help)) }) { texts($0.wrappedValue) }
    }

    static func time(_ name: String, _ help: String, use: Use? = nil) -> Input {
        Input(name, use, { Option<Moment?>(name: .customLong(name), help: .init(help)) }) {
            texts($0.wrappedValue.map { RFC3339.text($0.date) })
        }
    }

    static func flag(_ name: String, _ help: String, use: Use? = nil) -> Input {
        Input(name, use, { Flag<Bool>(wrappedValue: false, name: .customLong(name), help: .init(help)) }) {
            $0.wrappedValue ? ["true"] : []
        }
    }

    /// The flags `--enable-NAME` and `--disable-NAME`.
    static func toggle(_ name: String, _ help: String, use: Use) -> Input {
        Input(
            name, use,
            { Flag<Bool?>(name: .customLong(name), inversion: .prefixedEnableDisable, help: .init(help)) }
        ) { texts($0.wrappedValue) }
    }

    private static func texts(_ value: (some CustomStringConvertible)?) -> [String] { value.map { ["\($0)"] } ?? [] }

    /// The help, with the words if they are few.
    private static func help(_ text: String, _ words: [String]) -> String {
        (1...10).contains(words.count) ? "\(text) One of \(words.joined(separator: ", "))." : text
    }

    private static func completion(_ words: [String]) -> CompletionKind? { words.isEmpty ? nil : .list(words) }

    /// The same input, whose texts have this form.
    func checked(_ check: @escaping @Sendable (String) throws -> Void) -> Input {
        var input = self
        input.check = check
        return input
    }

    /// The same input, which also removes another member of the body.
    func clearing(_ other: String) -> Input {
        guard case .body(let set) = use else { return self }
        var input = self
        input.use = .body { draft, texts in
            if !texts.isEmpty { draft.set(other, raw: Array("null".utf8)) }
            try set(&draft, texts)
        }
        return input
    }

    // MARK: From the contract

    /// A parameter of the path or the query.
    static func parameter(_ parameter: OperationGuide.Parameter, named name: String) -> Input {
        let use = Use.parameter(parameter.name)
        let text = parameter.help
        var words: [String] = []
        if case .words(let all) = parameter.shape { words = all }
        guard parameter.place == "query" else { return argument(name, text, words: words, use: use) }
        return switch parameter.shape {
        case .integer: integer(name, text, use: use)
        case .flag: flag(name, text, use: use)
        case .time: time(name, text, use: use)
        default: option(name, text, words: words, use: use)
        }
    }

    /// A member of the body.
    static func member(
        _ member: RequestShape.Member, named name: String, _ help: String, isRequired: Bool
    ) -> Input {
        let api = member.name
        return switch member.shape {
        case .flag: flag(name, help, use: .literal(api))
        case .integer, .numbers: integer(name, help, use: .literal(api))
        case .words(let words): option(name, help, words: words, isRequired: isRequired, use: .text(api))
        case .text, .time: option(name, help, isRequired: isRequired, use: .text(api))
        case .array(.words(let words), _, _):
            options(name, help, words: words, isRequired: isRequired, use: .texts(api)).checked { text in
                guard words.contains(text) else {
                    throw ValidationError("--\(name) \(text): one of \(words.joined(separator: ", ")) was expected.")
                }
            }
        case .array(.text, _, _): options(name, help, isRequired: isRequired, use: .texts(api))
        default: option(name, help + " JSON, @file, or -.", isRequired: isRequired, use: .json(api, "--\(name)"))
        }
    }

    /// The name of the command line for a name of openapi.yaml: `startsAt` is `starts-at`.
    static func name(for api: String) -> String {
        api.reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : "\($1)" }
    }
}

extension Input.Use {
    /// A text of the body.
    static func text(_ member: String) -> Self { .body { $0.set(member, $1.first) } }

    static func texts(_ member: String) -> Self { .body { $0.set(member, texts: $1) } }

    /// A number or a flag of the body.
    static func literal(_ member: String) -> Self {
        .body { draft, texts in draft.set(member, raw: texts.first.map { Array($0.utf8) }) }
    }

    /// JSON of the body: as text, `@file` or `-`. `option` is what people call the input.
    static func json(_ member: String, _ option: String) -> Self {
        .body { draft, texts in draft.set(member, raw: try texts.first.map { try GrandstandCommand.json(option, $0) }) }
    }
}

/// The name of an input, as ArgumentParser knows it.
struct InputKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// An option with a time.
struct Moment: ExpressibleByArgument {
    let date: Date

    init?(argument: String) {
        guard let date = RFC3339.date(argument) else { return nil }
        self.date = date
    }
}
