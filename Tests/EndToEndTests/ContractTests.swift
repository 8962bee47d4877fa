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

        var description: String {
            "\(method) \(path) \(needsKey ? scopes.sorted().joined(separator: " or ") : "open")"
        }

        static func < (one: Operation, other: Operation) -> Bool { one.description < other.description }
    }

    /// The operations of an OpenAPI document as ours is laid out: paths at two spaces, methods at four.
    static func operations(in document: String) -> Set<Operation> {
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
        }
        return Set(operations)
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
                        needsKey: $0.needsKey)
                })
            #expect(written.count > 20)
            // The console's pages are for people and promise programs nothing: they are in neither.
            #expect(!(written.union(routed)).contains { $0.path.hasPrefix("/console") })
            #expect(written.subtracting(routed).sorted() == [])
            #expect(routed.subtracting(written).sorted() == [])
        }
    }

    @Test func `every action of the audit log can be asked for`() async throws {
        try await Stage.with { stage in
            let text = try await HTTPCaller(url: stage.url, secret: nil)("GET", "/openapi.yaml").text
            let words = AuditAction.allCases.map(\.rawValue).joined(separator: ", ")
            #expect(text.contains("enum: [\(words)]"))
        }
    }

    @Test func `every kind of problem stands in the contract`() async throws {
        try await Stage.with { stage in
            let text = try await HTTPCaller(url: stage.url, secret: nil)("GET", "/openapi.yaml").text
            for kind in Problem.Kind.allCases {
                #expect(text.contains("\"https://grandstand.dev/problems/\(kind.slug)\""), "\(kind.slug)")
            }
        }
    }
}
