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
        case body(@Sendable (inout JSONDraft, [String]) throws -> Void)
        /// The verb reads them itself.
        case verb
    }

    /// What people write, and ArgumentParser's type for it.
    enum Kind: Sendable {
        case argument, optionalArgument, option, requiredOption, options, requiredOptions, integer, time, flag
    }

    let kind: Kind
    /// As people write it, such as `starts-at`.
    let name: String
    private let help: String
    private let words: [String]
    let use: Use
    /// Checks a text before anything is asked. Throws `ValidationError`.
    let check: @Sendable (String) throws -> Void

    /// - Parameter words: the words that complete it.
    init(
        _ kind: Kind, _ name: String, _ help: String, words: [String] = [], use: Use,
        check: @escaping @Sendable (String) throws -> Void = { _ in }
    ) {
        (self.kind, self.name, self.words, self.use, self.check) = (kind, name, words, use, check)
        let isFew = (1...10).contains(words.count)
        self.help = isFew ? "\(help) One of \(words.joined(separator: ", "))." : help
    }

    /// ArgumentParser's definition: an `Argument`, `Option` or `Flag`.
    var wrapper: Any {
        let (argument, long) = (ArgumentHelp(help, valueName: name), NameSpecification.customLong(name))
        let (help, many) = (ArgumentHelp(help), ArgumentHelp(help + " May be repeated."))
        let words: CompletionKind? = words.isEmpty ? nil : .list(words)
        return switch kind {
        case .argument: Argument<String>(help: argument, completion: words)
        case .optionalArgument: Argument<String?>(help: argument, completion: words)
        case .option: Option<String?>(name: long, help: help, completion: words)
        case .requiredOption: Option<String>(name: long, help: help, completion: words)
        case .options: Option<[String]>(wrappedValue: [], name: long, help: many, completion: words)
        case .requiredOptions: Option<[String]>(name: long, help: many, completion: words)
        case .integer: Option<Int?>(name: long, help: help)
        case .time: Option<Moment?>(name: long, help: help)
        case .flag: Flag<Bool>(wrappedValue: false, name: long, help: help)
        }
    }

    /// The texts that were given.
    func texts(in values: KeyedDecodingContainer<InputKey>) throws -> [String] {
        let key = InputKey(stringValue: name)
        func given<Wrapper: Decodable>(_ type: Wrapper.Type) throws -> Wrapper { try values.decode(type, forKey: key) }
        func list(_ text: String?) -> [String] { text.map { [$0] } ?? [] }
        return switch kind {
        case .argument: [try given(Argument<String>.self).wrappedValue]
        case .optionalArgument: list(try given(Argument<String?>.self).wrappedValue)
        case .option: list(try given(Option<String?>.self).wrappedValue)
        case .requiredOption: [try given(Option<String>.self).wrappedValue]
        case .options, .requiredOptions: try given(Option<[String]>.self).wrappedValue
        case .integer: list(try given(Option<Int?>.self).wrappedValue.map(String.init))
        case .time: list(try given(Option<Moment?>.self).wrappedValue.map { RFC3339.text($0.date) })
        case .flag: try given(Flag<Bool>.self).wrappedValue ? ["true"] : []
        }
    }

    // MARK: From the contract

    /// A parameter of the path or the query.
    static func parameter(_ parameter: OperationGuide.Parameter, named name: String) -> Input {
        shaped(parameter.shape, name, parameter.help, one: parameter.place == "path" ? .argument : .option) { _ in
            .parameter(parameter.name)
        }
    }

    /// A member of the body.
    static func member(
        _ member: RequestShape.Member, named name: String, _ help: String, isRequired: Bool
    ) -> Input {
        let (one, many): (Kind, Kind) = isRequired ? (.requiredOption, .requiredOptions) : (.option, .options)
        return shaped(member.shape, name, help, one: one, many: many) { write in
            .body { draft, texts in if !texts.isEmpty { draft[member.name] = try write(texts) } }
        }
    }

    /// An input whose value has this shape.
    ///
    /// - Parameters:
    ///   - one: the kind of one text; `many`: of several.
    ///   - use: gets what makes the JSON of the texts.
    private static func shaped(
        _ shape: RequestShape, _ name: String, _ help: String, one: Kind, many: Kind = .options,
        use: (_ write: @escaping @Sendable ([String]) throws -> [UInt8]) -> Use
    ) -> Input {
        let literal = use { Array($0[0].utf8) }
        let text = use { JSONWriter.text($0[0]) }
        let texts = use { JSONWriter.text($0) }
        return switch shape {
        case .flag: Input(.flag, name, help, use: literal)
        case .integer, .numbers: Input(.integer, name, help, use: literal)
        case .words(let words): Input(one, name, help, words: words, use: text)
        case .time: Input(.time, name, help, use: text)
        case .text: Input(one, name, help, use: text)
        case .array(.words(let words), _, _):
            Input(many, name, help, words: words, use: texts) { text in
                guard !words.contains(text) else { return }
                throw ValidationError("--\(name) \(text): one of \(words.joined(separator: ", ")) was expected.")
            }
        case .array(.text, _, _): Input(many, name, help, use: texts)
        default: Input(one, name, help + " JSON, @file, or -.", use: use { try json("--\(name)", $0[0]) })
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
