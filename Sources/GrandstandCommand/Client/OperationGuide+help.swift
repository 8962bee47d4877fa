internal import GrandstandContract
internal import GrandstandServer

extension OperationGuide {
    /// The arguments of `grandstand call`, as its help shows them.
    var usage: String {
        let names = parameters.filter(\.isRequired).map { " \($0.name)=…" }.joined()
        return "grandstand call \(operation.id)\(names)" + (schema != nil ? " BODY" : "")
    }

    /// The help for people.
    var help: String {
        var lines = ["\(operation.method) \(operation.path)", summary]
        if !text.isEmpty { lines.append(text) }
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
