extension Contract {
    /// The operations as values, which the server's routes use.
    func operationList() -> String {
        var swift = SwiftText(imports: [])
        swift.block("extension Contract.Operation") { swift in
            for (index, operation) in operations.enumerated() {
                if index > 0 { swift.line() }
                swift.document(operation.text)
                swift.line("public static let \(SwiftName.member(operation.id)) = Self(")
                swift.line("    \"\(operation.id)\", \"\(operation.method.uppercased())\", \"\(operation.path)\",")
                let scopes =
                    operation.scopes.map { "[\($0.map { ".\(SwiftName.joined($0))" }.joined(separator: ", "))]" }
                    ?? "nil"
                let query = operation.query.map { "\"\($0.name)\"" }.joined(separator: ", ")
                let secret = secret(of: operation).map { ", shownOnce: \"\($0)\"" } ?? ""
                let keeps = operation.takesIdempotencyKey
                swift.line("    scopes: \(scopes), query: [\(query)], keepsAnswers: \(keeps)\(secret))")
            }
            swift.line()
            swift.line("/// Every operation, in the order of openapi.yaml.")
            swift.line("public static let all: [Self] = [")
            for operation in operations { swift.line("    .\(SwiftName.joined(operation.id)),") }
            swift.line("]")
        }
        return swift.text
    }

    /// The member of the operation's answer that is a secret.
    private func secret(of operation: Operation) -> String? {
        guard case .object(let fields) = schemas.first(where: { $0.name == operation.answer })?.shape else {
            return nil
        }
        return fields.first { $0.type == .optional(.secret) }?.name
    }
}
