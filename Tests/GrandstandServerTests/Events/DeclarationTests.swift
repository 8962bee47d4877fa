internal import ContractKit
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// Every member of an event's declaration must be in an example of openapi.yaml, so each one is tested from the API to
/// the table and back.
@Suite(.database)
struct DeclarationTests {
    private static let contract = OpenAPIDocument.written

    @Test func `all members of the event examples in openapi.yaml are in the answers, too`() async throws {
        let schema = try #require(Self.contract.schema("EventDraft"))
        let examples = schema["examples"]?.elements ?? []
        #expect(Self.unsaid(schema, by: examples, "") == [], "The examples have every member.")
        let world = RouteWorld()
        try await world.rows.apps.put(Sample.app())
        for (place, example) in examples.enumerated() {
            let path = "/v1/events/example-\(place)"
            let body = try JSONSerialization.data(withJSONObject: Self.tree(example))
            let written = try await world("PUT", path, String(decoding: body, as: UTF8.self))
            #expect(written.status == 201, "\(written.text)")
            for answer in [written, try await world("GET", path)] {
                #expect(Self.missing(example, in: try YAML(json: Data(answer.text.utf8)), "") == [], "\(answer.text)")
            }
        }
    }

    /// The paths of the schema's members that are in no example.
    private static func unsaid(_ schema: YAML, by examples: [YAML], _ place: String) -> [String] {
        let schema = contract.resolved(schema)
        if schema["x-raw"] == .bool(true) { return [] }
        let schemas = [schema] + (schema["anyOf"]?.elements ?? []).map(contract.resolved)
        return schemas.flatMap { schema -> [String] in
            if let items = schema["items"] { return unsaid(items, by: examples.flatMap(\.elements), place) }
            return (schema["properties"]?.members ?? []).flatMap { name, member in
                let values = examples.compactMap { $0[name] }
                return values.isEmpty ? ["\(place)/\(name)"] : unsaid(member, by: values, "\(place)/\(name)")
            }
        }
    }

    /// The paths at which an answer does not say what was declared.
    private static func missing(_ declared: YAML, in answer: YAML?, _ place: String) -> [String] {
        switch (declared, answer) {
        case (.map(let members), .map):
            members.flatMap { missing($0.value, in: answer?[$0.name], "\(place)/\($0.name)") }
        case (.list(let elements), .list(let answers)) where elements.count == answers.count:
            zip(elements, answers).enumerated().flatMap { missing($1.0, in: $1.1, "\(place)/\($0)") }
        case (.text(let text), .text(let answer)) where text.hasSuffix("Z"):
            // Times are answered to the millisecond.
            [text, text.dropLast() + ".000Z"].contains(answer) ? [] : [place]
        default: declared == answer ? [] : [place]
        }
    }

    private static func tree(_ value: YAML) -> Any {
        switch value {
        case .null: NSNull()
        case .bool(let flag): flag
        case .number(let number): number
        case .text(let text): text
        case .list(let elements): elements.map(tree)
        case .map(let members): Dictionary(uniqueKeysWithValues: members.map { ($0.name, tree($0.value)) })
        }
    }
}
