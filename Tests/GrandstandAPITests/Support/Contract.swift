internal import GrandstandAPI

/// What openapi.yaml says, as far as tests compare it.
enum Contract {
    struct Operation: Hashable, Comparable, CustomStringConvertible {
        var method: String
        var path: String
        /// One of them is enough; empty: any valid key, or none.
        var scopes: Set<String>
        var needsKey: Bool
        /// Names its query may have.
        var query: Set<String> = []

        var description: String {
            let names = query.sorted().joined(separator: ", ")
            return "\(method) \(path) \(needsKey ? scopes.sorted().joined(separator: " or ") : "open") ?\(names)"
        }

        /// A path of this operation, about one app, event and so on.
        var sample: String {
            let values = [
                "{bundleId}": "com.example.Stadium", "{environment}": "production", "{key}": "derby",
                "{id}": "11111111-2222-4333-8444-555555555555", "{delivery}": "11111111-2222-4333-8444-555555555555",
                "{quirk}": "management-path", "{installationId}": "11111111-2222-4333-8444-555555555555",
                "{activityId}": "1", "{name}": "bl1",
            ]
            return path.split(separator: "/", omittingEmptySubsequences: false).map { values[String($0)] ?? String($0) }
                .joined(separator: "/")
        }

        static func < (one: Operation, other: Operation) -> Bool { one.description < other.description }
    }

    /// The document, as it is served.
    static func text() async throws -> String { try await RouteWorld()("GET", "/openapi.yaml", as: nil).text }

    static func operations() async throws -> Set<Operation> { operations(in: try await text()) }

    /// The operations of an OpenAPI document as ours is laid out: paths at two spaces, methods at four.
    private static func operations(in document: String) -> Set<Operation> {
        let parameters = queryParameters(in: document)
        var operations: [Operation] = []
        var path = ""
        var isInPaths = false
        for line in document.split(separator: "\n") {
            if !line.hasPrefix(" ") { isInPaths = line == "paths:" }
            guard isInPaths else { continue }
            let indent = line.prefix { $0 == " " }.count
            let text = line.dropFirst(indent)
            if indent == 2 { path = String(text.dropLast()) }
            if indent == 4 {
                operations.append(
                    Operation(method: text.dropLast().uppercased(), path: path, scopes: [], needsKey: true))
            }
            guard let last = operations.indices.last else { continue }
            if indent == 6, text == "security: []" { operations[last].needsKey = false }
            if indent == 8, text.hasPrefix("- key: [") {
                operations[last].scopes.insert(String(text.dropFirst(8).dropLast()))
            }
            if indent == 8, let name = reference(text).flatMap({ parameters[$0] }) {
                operations[last].query.insert(name)
            }
        }
        return Set(operations)
    }

    /// The name in a query of each of the document's parameters that stands there, by the parameter's own name.
    private static func queryParameters(in document: String) -> [String: String] {
        var names: [String: String] = [:]
        var parameter = ""
        var name = ""
        for line in document.split(separator: "\n") {
            let indent = line.prefix { $0 == " " }.count
            let text = line.dropFirst(indent)
            if indent == 4 { parameter = String(text.dropLast()) }
            if indent == 6, text.hasPrefix("name: ") { name = String(text.dropFirst(6)) }
            if indent == 6, text == "in: query" { names[parameter] = name }
        }
        return names
    }

    private static func reference(_ text: Substring) -> String? {
        let start = "- $ref: \"#/components/parameters/"
        return text.hasPrefix(start) ? String(text.dropFirst(start.count).dropLast()) : nil
    }
}
