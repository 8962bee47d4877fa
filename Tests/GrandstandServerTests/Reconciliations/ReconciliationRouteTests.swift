internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandServer

/// `/v1/apps/{bundleId}/{environment}/reconciliations`.
struct ReconciliationRouteTests {
    @Test func `if Apple's list cannot be read the answer says so`() async throws {
        var world = RouteWorld()
        world.reconciliations.start = { _ in
            ReconciliationRun(id: UUID(), address: Sample.address, startedAt: RouteWorld.now, failures: 0)
        }
        world.gateway.list = { _ in .unanswered("no answer") }
        world.reconciliations.end = { _ in }
        let answer = try await world("POST", "/v1/apps/com.example.Stadium/production/reconciliations", "{}")
        #expect(answer.status == 504)
        #expect(answer.slug == "apns-unanswered")
    }
}
