internal import APNsWire
internal import ContractKit
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Testing

@testable internal import GrandstandServer

/// openapi.yaml and the code agree in both directions, and openapi.yaml follows its own rules.
struct ContractRouteTests {
    private static let contract = OpenAPIDocument.served

    @Test func `each operation of the contract has one route, and no other route exists`() throws {
        let api = try RouteWorld().api { RouteWorld.now }
        let routed = (api.routes + api.healthRoutes()).map(\.operation.id)
        #expect(routed.sorted() == Contract.Operation.all.map(\.id).sorted())
    }

    @Test func `only probes and the contract need no key`() {
        let open = Contract.Operation.all.filter { $0.scopes == nil }
        #expect(open.map(\.id) == ["health", "readiness", "contract"])
    }

    @Test func `everyone may read the contract, with any query`() async throws {
        let answer = try await RouteWorld()("GET", "/openapi.yaml?v=1", as: nil)
        #expect(answer.status == 200)
        #expect(answer.headers[.contentType] == "application/yaml")
    }

    /// The values of an enumeration in the contract, and of its type in the code.
    private static func words<Rule: CaseIterable & RawRepresentable<String>>(
        _ contract: [some ContractWord], _ rule: Rule.Type
    ) -> (contract: [String], code: [String]) {
        (contract.map(\.rawValue), rule.allCases.map(\.rawValue))
    }

    @Test func `enumerations have the same values in the contract and in the code`() {
        let pairs = [
            Self.words(Contract.Environment.allCases, APNsEnvironment.self),
            Self.words(Contract.StoragePolicy.allCases, StoragePolicy.self),
        ]
        for (contract, code) in pairs { #expect(contract == code) }
        // A broadcast cannot start an activity, because APNs does not support this.
        let kinds = Contract.BroadcastKind.allCases.map(\.rawValue)
        #expect(kinds == BroadcastPayload.Event.allCases.filter { $0 != .start }.map(\.rawValue))
        #expect(Contract.QuirkValue.allCases == Contract.QuirkName.allCases.flatMap(\.values))
        #expect(Contract.MissingReason.allCases.allSatisfy { Problem.Kind(rawValue: $0.rawValue) != nil })
        let messages = Contract.WebhookMessageType.allCases.filter { $0 != .webhookTest }.map(\.rawValue)
        #expect(Contract.WebhookTopic.allCases.map(\.rawValue) == messages)
        let topics = Self.contract.schema("WebhookDraft")?["properties"]?["topics"]
        #expect(topics?["maxItems"]?.number == Double(messages.count))
    }

    @Test func `each kind of problem has its members, which are in the schema of problems`() {
        let problems = Self.contract.schema("ProblemKind")?["x-problems"]?.members ?? []
        let members = Set(Self.contract.schema("Problem")?["properties"]?.members.map(\.name) ?? [])
        for (kind, entry) in problems {
            #expect(members.isSuperset(of: entry["members"]?.strings ?? []), "\(kind)")
        }
        #expect(problems.map(\.name) == Problem.Kind.allCases.map(\.rawValue).sorted())
    }

    @Test func `every example fits its schema`() {
        var count = 0
        Self.walk(Self.contract.document, "") { value, place in
            for example in value["examples"]?.elements ?? [] where value["type"] != nil || value["anyOf"] != nil {
                #expect(Self.contract.faults(of: example, in: value) == [], "\(place)")
                count += 1
            }
            if let schema = value["schema"], let example = value["example"] {
                #expect(Self.contract.faults(of: example, in: schema) == [], "\(place)")
                count += 1
                let title = Self.contract.schema("ProblemKind")?["x-problems"]?[
                    OpenAPIDocument.last(example["type"]?.string ?? "")]?["title"]
                if place.hasSuffix("problem+json") { #expect(example["title"] == title, "\(place)") }
            }
        }
        #expect(count > 90)
    }

    @Test func `every field, schema, parameter and value has a description`() {
        for (name, schema) in Self.contract.schemas {
            #expect(schema["description"]?.string?.isEmpty == false, "\(name)")
            for (field, property) in schema["properties"]?.members ?? [] {
                let own = property["description"] ?? Self.contract.resolved(property)["description"]
                #expect(own?.string?.isEmpty == false, "\(name).\(field)")
            }
            if let words = schema["enum"]?.elements {
                #expect(schema["x-enum-descriptions"]?.members.count == words.count, "\(name)")
            }
            for field in schema["required"]?.strings ?? [] {
                #expect(schema["properties"]?[field] != nil, "\(name).\(field) is required and not described")
            }
        }
        for (name, parameter) in Self.contract.document["components"]?["parameters"]?.members ?? [] {
            #expect(parameter["description"]?.string?.isEmpty == false, "\(name)")
        }
    }

    // Where one of these three rules does not hold, some generators of clients leave out an operation or a schema.

    @Test func `each parameter has a type and no const, for generated clients`() {
        var count = 0
        Self.walk(Self.contract.document, "") { value, place in
            guard value["in"]?.string != nil, let schema = value["schema"].map(Self.contract.resolved) else { return }
            #expect(schema["type"]?.string != nil && schema["const"] == nil, "\(place)")
            count += 1
        }
        #expect(count > 40)
    }

    @Test func `a value has one type, perhaps with null, or may be any JSON and has none, for generated clients`() {
        Self.walk(Self.contract.document, "") { value, place in
            let types = value["type"]?.string.map { [$0] } ?? value["type"]?.strings ?? []
            #expect(types.count { $0 != "null" } <= 1, "\(place)")
            // Generators do not read `not`.
            if types.contains("array"), !place.contains("/not/") {
                #expect(value["items"] != nil, "\(place)")
            }
        }
    }

    @Test func `a request to webhooks has no tag of the API's operations, for generated clients`() {
        let requests = (Self.contract.document["webhooks"]?.members ?? []).flatMap { $0.value.members }
        let tags = Set(requests.flatMap { $0.value["tags"]?.strings ?? [] })
        #expect(!tags.isEmpty)
        #expect(tags.isDisjoint(with: Self.contract.operations.flatMap { $0.value["tags"]?.strings ?? [] }))
    }

    private static func walk(_ value: YAML, _ place: String, _ visit: (YAML, String) -> Void) {
        visit(value, place)
        for (name, member) in value.members where name != "example" && name != "examples" {
            walk(member, "\(place)/\(name)", visit)
        }
        for (index, element) in value.elements.enumerated() { walk(element, "\(place)/\(index)", visit) }
    }
}
