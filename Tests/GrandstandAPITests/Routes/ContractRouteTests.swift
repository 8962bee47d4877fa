internal import Grandstand
internal import HTTPTypes
internal import Testing

@testable internal import GrandstandAPI

/// `openapi.yaml` and the router say the same, both ways; so do its lists of the domain's words.
struct ContractRouteTests {
    @Test func `the contract that is served lists what the router has, and nothing else`() async throws {
        let written = try await Contract.operations()
        let routed = Set(
            RouteWorld().api.operations.map {
                Contract.Operation(
                    method: $0.method, path: $0.path, scopes: Set($0.scopes.map(\.rawValue)), needsKey: $0.needsKey,
                    query: $0.query)
            })
        #expect(written.count > 20)
        // The console's pages are for people and promise programs nothing: they are in neither.
        #expect(!written.union(routed).contains { $0.path.hasPrefix("/console") })
        #expect(written.subtracting(routed).sorted() == [])
        #expect(routed.subtracting(written).sorted() == [])
    }

    @Test func `the contract is for everybody, whatever the query`() async throws {
        let answer = try await RouteWorld()("GET", "/openapi.yaml?v=1", as: nil)
        #expect(answer.status == 200)
        #expect(answer.headers[.contentType] == "application/yaml")
    }

    @Test func `every action of the audit log can be asked for`() async throws {
        let words = AuditAction.allCases.map(\.rawValue).joined(separator: ", ")
        #expect(try await Contract.text().contains("enum: [\(words)]"))
    }

    @Test func `every kind of problem stands in the contract`() async throws {
        let text = try await Contract.text()
        for kind in Problem.Kind.allCases {
            #expect(text.contains("\"https://grandstand.dev/problems/\(kind.slug)\""), "\(kind.slug)")
        }
    }
}
