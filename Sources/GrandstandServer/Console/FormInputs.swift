internal import Grandstand
internal import GrandstandContract
internal import JSON

/// A field of a form. The template `input` writes each kind in its own way.
struct FormInput: Sendable {
    /// The field's name in the form.
    let name: String
    let label: String
    var help: String?
    var value = ""
    var isRequired = false
    var isLine = false
    var isTime = false
    var isLong = false
    var isSelect = false
    /// Whether it is a set of check boxes.
    var isSet = false
    var choices: [Choice] = []
}

extension FormInput {
    /// The field for a parameter; `nil`: it has no kind that a field can express.
    init?(_ parameter: OperationGuide.Parameter, help: String? = nil, _ value: String?) {
        var shape = parameter.shape
        if case .flag = shape { shape = .words(["true", "false"]) }
        let member = RequestShape.Member(parameter.name, isRequired: parameter.isRequired, shape)
        self.init(member, value.flatMap { JSONValue.fromText($0) })
        self.help = help
    }

    /// A field of one line that may be empty.
    static func line(_ name: String, _ label: String, _ value: String, isTime: Bool = false) -> FormInput {
        FormInput(
            name: name, label: label, value: isTime ? FormTime.field(value) : value, isLine: true, isTime: isTime)
    }

    /// The field for a member. A member of an inner object has the object's name before its own; check boxes have the
    /// singular.
    ///
    /// - Parameters:
    ///   - schema: the object's name in openapi.yaml, which has the help texts; `nil`: there are none.
    ///   - object: the object's name, if it is in another.
    /// - Returns: `nil` for a shape that no field can express.
    init?(_ member: RequestShape.Member, of schema: String? = nil, in object: String? = nil, _ initial: JSONValue?) {
        self.init(
            name: member.fieldName(in: object),
            label: [object, member.name].compactMap(\.self).map(Wording.label).joined(separator: ": "),
            help: schema.flatMap { ContractText.help($0, member.name) }, isRequired: member.isRequired)
        let chosen = (initial?.elements ?? initial.map { [$0] } ?? []).compactMap(\.string)
        value = chosen.joined(separator: ", ")
        var words: [String] = []
        switch member.shape {
        case .text(let rule):
            // A text that may have line feeds needs more than one line.
            isLong = rule.accepts("a\nb")
            isLine = !isLong
        case .time:
            (isLine, isTime) = (true, true)
            value = FormTime.field(value)
        case .integer:
            isLine = true
            value = initial?.integer.map(String.init) ?? ""
        case .words(let all): (isSelect, words) = (true, all)
        case .array(.words(let all), _, _): (isSet, words) = (true, all)
        case .array(.text, _, _): isLine = true
        case .array(.object(let members, _), _, _):
            isLong = true
            let names = [true, false].map { isRequired in
                members.filter { $0.isRequired == isRequired }.map(\.name).joined(separator: ", ")
            }
            help = "\(help ?? "") A line each: \(names[0]) and, if it has them, \(names[1])."
        case .raw, .object:
            isLong = true
            help = "\(help ?? "") As a JSON object."
        default: return nil
        }
        choices = words.map { word in
            let hint = schema.flatMap { ContractText.help($0, member.name, word: word) }
            return Choice(word, hint: hint, isChosen: chosen.contains(word))
        }
    }
}

extension RequestShape.Member {
    fileprivate func fieldName(in object: String?) -> String {
        if case .array(.words, _, _) = shape { return String(name.dropLast()) }
        return (object.map { $0 + "." } ?? "") + name
    }

    /// Whether the form has a field for this member or for one within it.
    fileprivate func isIn(_ fields: FormFields, _ object: String?) -> Bool {
        if let inner = shape.parts { return inner.contains { $0.isIn(fields, name) } }
        let field = fieldName(in: object)
        return fields.entries.contains { $0.name == field }
    }
}

extension RequestShape {
    /// The members of an object; `nil`: it is another shape.
    private var members: [Member]? { if case .object(let members, _) = self { members } else { nil } }

    /// Whether a field has the value as JSON: it is any object, or one that needs such a member.
    fileprivate var needsJSON: Bool {
        switch self {
        case .any, .raw, .map, .objectOr: true
        case .object(let members, _): members.contains { $0.isRequired && $0.shape.needsJSON }
        default: false
        }
    }

    /// The members of an object that have fields of their own.
    fileprivate var parts: [Member]? { needsJSON ? nil : members }

    /// The fields of a form for an object of this shape. Members that no field can express are left out.
    ///
    /// - Parameters:
    ///   - hidden: members that the form does not show.
    ///   - initial: the object that the form begins with.
    func inputs(
        of schema: String?, in object: String? = nil, without hidden: Set<String> = [], initial: (String) -> JSONValue?
    ) -> [FormInput] {
        (members ?? []).filter { !hidden.contains($0.name) }.flatMap { member -> [FormInput] in
            let value = initial(member.name)
            guard member.shape.parts != nil else {
                return FormInput(member, of: schema, in: object, value).map { [$0] } ?? []
            }
            let schema = schema.flatMap { ContractText.schema(of: $0, member.name) }
            return member.shape.inputs(of: schema, in: member.name) { value?[$0] }
        }
    }

    /// The JSON of the object that a form expresses. The API's operation reads it, so a form is refused in the same words
    /// as a request.
    ///
    /// - Parameters:
    ///   - object: the object's name, if it is in another.
    ///   - hidden: members that are left out.
    ///   - present: the object as it is. A member keeps its value if the form has no field for it.
    ///   - clears: whether an empty field is written as null.
    /// - Returns: `nil`: it has no member.
    func json(
        _ fields: FormFields, in object: String? = nil, without hidden: Set<String> = [],
        keeping present: JSONValue? = nil, clears: Bool = false
    ) -> String? {
        let written = (members ?? []).filter { !hidden.contains($0.name) }.compactMap { member -> String? in
            let field = member.fieldName(in: object)
            let value: String? =
                if let kept = present?[member.name], !member.isIn(fields, object) {
                    kept.isNull ? nil : String(decoding: kept.source, as: UTF8.self)
                } else if member.shape.parts != nil {
                    member.shape.json(fields, in: member.name)
                } else {
                    member.shape.json(field, of: fields) ?? (clears && member.isIn(fields, object) ? "null" : nil)
                }
            return value.map { "\(member.name.quotedJSON):\($0)" }
        }
        return written.isEmpty ? nil : "{\(written.joined(separator: ","))}"
    }

    /// The JSON of one field; `nil`: it is empty. Text that is no number, no time or no JSON becomes a string, and the API
    /// refuses it.
    private func json(_ field: String, of fields: FormFields) -> String? {
        guard let text = fields[field] else { return nil }
        switch self {
        case .array(.object(let members, _), _, _):
            let names = (members.filter(\.isRequired) + members.filter { !$0.isRequired }).map(\.name)
            let objects = text.split(whereSeparator: \.isNewline).map { line in
                let words = line.split(maxSplits: names.count - 1, whereSeparator: \.isWhitespace)
                let members = zip(names, words).map { "\($0.quotedJSON):\(String($1).quotedJSON)" }
                return "{\(members.joined(separator: ","))}"
            }
            return "[\(objects.filter { $0 != "{}" }.joined(separator: ","))]"
        case .array:
            let words = fields.all(field).flatMap { $0.split { $0 == "," || $0.isWhitespace } }
            return "[\(words.map { String($0).quotedJSON }.joined(separator: ","))]"
        case .integer: return Int(text).map(String.init) ?? text.quotedJSON
        case .flag where ["true", "false"].contains(text): return text
        case .time: return FormTime.utc(text).quotedJSON
        case .raw, .object:
            let value = try? JSONValue(parsing: Array(text.utf8))
            return value.map { String(decoding: $0.source, as: UTF8.self) } ?? text.quotedJSON
        // Forms send line breaks as CR LF.
        default: return text.replacing("\r\n", with: "\n").quotedJSON
        }
    }
}
