internal import Grandstand
internal import JSON

/// JSON whose strings are templates.
extension JSONValue {
    /// Writes the value without white space, with its strings filled in. The names of members are not templates.
    func write(
        to json: inout JSONWriter, filling value: (String) -> String?
    ) throws(Template.Missing) {
        var missing: Template.Missing?
        fill(&json, value, &missing)
        if let missing { throw missing }
    }

    private func fill(
        _ json: inout JSONWriter, _ value: (String) -> String?, _ missing: inout Template.Missing?
    ) {
        switch kind {
        case .null, .bool, .number: json.raw(source)
        case .string(let text):
            guard let template = Template(text) else { return json.raw(source) }
            do throws(Template.Missing) {
                json.string(try template.filled(value))
            } catch {
                missing = missing ?? error
                json.null()
            }
        case .array(let elements): json.array(elements) { $1.fill(&$0, value, &missing) }
        case .object(let members):
            json.object { object in
                for member in members {
                    object.name(dynamic: member.name)
                    member.value.fill(&object, value, &missing)
                }
            }
        }
    }

    /// The names used in all templates.
    var templateNames: Set<String> {
        switch kind {
        case .null, .bool, .number: []
        case .string(let text): Template(text)?.names ?? []
        case .array(let elements): elements.reduce(into: []) { $0.formUnion($1.templateNames) }
        case .object(let members): members.reduce(into: []) { $0.formUnion($1.value.templateNames) }
        }
    }

    /// A pointer to the first string that is not a valid template; `nil`: all are valid.
    func brokenTemplate(at pointer: String) -> String? {
        switch kind {
        case .null, .bool, .number: return nil
        case .string(let text): return Template(text) == nil ? pointer : nil
        case .array(let elements):
            for (place, element) in elements.enumerated() {
                if let found = element.brokenTemplate(at: "\(pointer)/\(place)") { return found }
            }
        case .object(let members):
            for member in members {
                if let found = member.value.brokenTemplate(at: pointer + JSONText.pointer([member.name])) {
                    return found
                }
            }
        }
        return nil
    }
}
