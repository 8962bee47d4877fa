internal import Grandstand
internal import HTTPTypes
internal import Testing

@testable internal import GrandstandAPI

/// What openapi.yaml lists of the domain's words. That it lists every operation, EndToEndTests show.
struct ContractRouteTests {
    private static func contract() async throws -> String {
        let answer = try await RouteWorld()("GET", "/openapi.yaml?v=1", as: nil)
        #expect(answer.status == 200)
        #expect(answer.headers[.contentType] == "application/yaml")
        return answer.text
    }

    @Test func `every action of the audit log can be asked for`() async throws {
        let words = AuditAction.allCases.map(\.rawValue).joined(separator: ", ")
        #expect(try await Self.contract().contains("enum: [\(words)]"))
    }

    @Test func `every kind of problem stands in the contract`() async throws {
        let text = try await Self.contract()
        for kind in Problem.Kind.allCases {
            #expect(text.contains("\"https://grandstand.dev/problems/\(kind.slug)\""), "\(kind.slug)")
        }
    }
}
