/// Names in the client's calls that differ from the rule in `Contract.calls`, because the rule would read badly in
/// Swift.
enum CallNames {
    /// The label of the path's last parameter.
    static let subjects = [
        "broadcast": "to", "previewBroadcast": "to", "listBroadcasts": "of", "listWebhookDeliveries": "of",
    ]
    /// The label of the app and its environment.
    static let apps = [
        "reconcile": "_", "getReconciliation": "of", "listReconciliations": "of",
        "installationStatistics": "of",
    ]
    /// The member of a body that is the first parameter, without a label. For these operations, the members of the body
    /// are parameters.
    static let spread: [String: String?] = [
        "createKey": nil, "rotateKey": nil, "rotateWebhookSecret": nil, "createChannel": nil,
        "importChannel": "channelId",
        "reopenEvent": nil, "startEvent": nil, "reconcile": nil, "lookupMany": "eventKeys", "broadcastMany": "items",
    ]
    /// Calls that are written by hand, because their answers are not JSON.
    static let byHand: Set = ["metrics", "contract", "listAppNames", "getAppName"]
    /// Statuses other than 2xx whose body is a normal answer.
    static let answers = ["readiness": 503]
}

extension Contract {
    /// Type aliases in the client's namespace.
    func clientNames() -> String {
        var swift = SwiftText(imports: ["public import GrandstandContract"])
        swift.block("extension GrandstandClient") { swift in
            swift.document("A page of a list.")
            swift.line("public typealias Page = Contract.Page")
            for schema in schemas where schema.name != "Problem" && schema.name != "ProblemKind" {
                if case .plain = schema.shape { continue }
                swift.document(schema.text)
                swift.line("public typealias \(schema.name) = Contract.\(schema.name)")
            }
        }
        return swift.text
    }

    /// The client's calls. Their parameters are the last one of the path, the app as one value, the query by name, and
    /// the body.
    func clientCalls(of tag: String) -> String {
        let operations = operations.filter { $0.tag == tag && !CallNames.byHand.contains($0.id) }
        var swift = SwiftText(imports: ["public import GrandstandContract"])
        for (index, operation) in operations.enumerated() {
            if index > 0 { swift.line() }
            let value = operation.answer.map { $0.isEmpty ? "Void" : "GrandstandClient.\($0)" } ?? "Void"
            swift.block("extension GrandstandClient.Call where Value == \(value)") { swift in
                call(operation, isText: false, &swift)
                if operation.request != nil, !isPatch(operation),
                    // A batch may contain members of a newer server.
                    CallNames.spread[operation.id] == nil || operation.id == "broadcastMany"
                {
                    swift.line()
                    call(operation, isText: true, &swift)
                }
            }
        }
        swift.addImportsOfDates("public import Foundation")
        return operations.isEmpty ? "" : swift.text
    }

    private func isPatch(_ operation: Operation) -> Bool { operation.method == "patch" }

    private func call(_ operation: Operation, isText: Bool, _ swift: inout SwiftText) {
        var parameters: [String] = []
        var path = operation.path
        func replace(_ part: String, _ with: String) {
            guard let range = path.range(of: part) else { return }
            path.replaceSubrange(range, with: with)
        }
        let installation = "{bundleId}/{environment}/installations/{installationId}"
        var names = operation.path.split(separator: "/").filter { $0.hasPrefix("{") }.map {
            String($0.dropFirst().dropLast())
        }
        let isInstallation = operation.path.contains(installation)
        let isApp = !isInstallation && operation.path.contains("{bundleId}/{environment}")
        if isInstallation {
            names.removeAll { ["bundleId", "environment", "installationId"].contains($0) }
            replace(installation, "\\(identity)")
        }
        if isApp {
            names.removeAll { ["bundleId", "environment"].contains($0) }
            replace("{bundleId}/{environment}", "\\(app)")
        }
        // The last parameter is the subject of the call. The one before it is its owner.
        for (index, name) in names.reversed().enumerated() {
            let local = name == "key" ? (operation.path.contains("/broadcasts") ? "eventKey" : "key") : name
            let label = index > 0 ? "of" : CallNames.subjects[operation.id] ?? "_"
            parameters.append("\(label) \(local): String")
            replace("{\(name)}", "\\(\(local))")
        }
        if isInstallation {
            let label = names.isEmpty && CallNames.spread[operation.id] == nil ? "_" : "of"
            parameters.append("\(label) identity: GrandstandClient.InstallationIdentity")
        }
        if isApp { parameters.append("\(CallNames.apps[operation.id] ?? "in") app: GrandstandClient.AppEnvironment") }
        var body: String?
        if let request = operation.request {
            if isText {
                parameters.append("json: RawJSON")
                body = "json"
            } else if isPatch(operation) {
                parameters.append("_ patch: RawJSON")
                body = "patch"
            } else if let first = CallNames.spread[operation.id] {
                body = spread(request, first, &parameters)
            } else {
                parameters.append("_ draft: GrandstandClient.\(request)")
                body = "draft"
            }
        }
        let query = operation.query.filter { !["limit", "cursor"].contains($0.name) }
        for field in query { parameters.append("\(field.name): \(field.type.swift(in: "Contract.")) = nil") }

        swift.document(
            isText
                ? "\(operation.text) Takes the body as JSON, so that it may have members that this version does not know."
                : operation.text)
        swift.block("public static func \(operation.id)(\(parameters.joined(separator: ", "))) -> Self") { swift in
            var text = "Self(.\(operation.id), \"\(path)\""
            if !query.isEmpty {
                text += ", [" + query.map { "(\"\($0.name)\", \($0.name))" }.joined(separator: ", ") + "]"
            }
            if let body { text += ", body: \(body)" }
            text += ")"
            if operation.takesInstallationSecret { text += ".by(identity)" }
            if let status = CallNames.answers[operation.id] { text += ".answering(\(status))" }
            swift.line(text)
        }
    }

    /// The body's members as parameters.
    private func spread(_ request: String, _ first: String?, _ parameters: inout [String]) -> String {
        guard let schema = schemas.first(where: { $0.name == request }), case .object(let fields) = schema.shape else {
            return "draft"
        }
        if let first, let field = fields.first(where: { $0.name == first }) {
            let local = first == "eventKeys" ? "keys" : first
            parameters.insert("_ \(local): \(field.type.swift(in: "Contract."))", at: 0)
        }
        for field in fields where field.name != first {
            parameters.append(
                "\(field.name): \(field.type.swift(in: "Contract."))" + (field.type.isOptional ? " = nil" : ""))
        }
        let arguments = fields.map { field in
            let local = field.name == first && first == "eventKeys" ? "keys" : field.name
            return "\(field.name): \(local)"
        }
        return "Contract.\(request)(\(arguments.joined(separator: ", ")))"
    }
}
