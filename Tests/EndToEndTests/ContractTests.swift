internal import Foundation
internal import Grandstand
internal import GrandstandAPI
internal import GrandstandApp
internal import Testing

/// `openapi.yaml` and the router say the same, both ways.
@Suite(.timeLimit(.minutes(5)))
struct ContractTests {
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

        static func < (one: Operation, other: Operation) -> Bool { one.description < other.description }
    }

    /// The operations of an OpenAPI document as ours is laid out: paths at two spaces, methods at four.
    static func operations(in document: String) -> Set<Operation> {
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

    @Test func `the contract that is served lists what the router has, and nothing else`() async throws {
        try await Stage.with { stage in
            let answer = try await HTTPCaller(url: stage.url, secret: nil)("GET", "/openapi.yaml")
            #expect(answer.status == 200)
            #expect(answer.headers["content-type"] == "application/yaml")
            let written = Self.operations(in: answer.text)
            let routed = Set(
                stage.server.operations.map {
                    Operation(
                        method: $0.method, path: $0.path, scopes: Set($0.scopes.map(\.rawValue)),
                        needsKey: $0.needsKey, query: $0.query)
                })
            #expect(written.count > 20)
            // The console's pages are for people and promise programs nothing: they are in neither.
            #expect(!(written.union(routed)).contains { $0.path.hasPrefix("/console") })
            #expect(written.subtracting(routed).sorted() == [])
            #expect(routed.subtracting(written).sorted() == [])
        }
    }
}
