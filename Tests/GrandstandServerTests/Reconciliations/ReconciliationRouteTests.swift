internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// `/v1/apps/{bundleId}/{environment}/reconciliations`.
@Suite(.database)
struct ReconciliationRouteTests {
    private static let path = "/v1/apps/com.example.Stadium/production/reconciliations"

    @Test func `a report is answered, listed and kept, and an answer says why Apple's list could not be read`()
        async throws
    {
        var world = RouteWorld()
        _ = try await world.rows.apps.put(Sample.app(), by: .server)
        world.gateway.list = { _ in .unanswered("no answer") }
        let failed = try await world("POST", Self.path, "{}")
        #expect(failed.status == 504 && failed.slug == "apns-unanswered")
        world.gateway.list = { _ in .accepted(ChannelListing(channelIDs: ["x"]), .init(requestID: nil)) }
        let made = try await world("POST", Self.path, "{}")
        #expect(made.status == 201 && (made.json["unmanaged"] as? [Any])?.count == 1, "\(made.text)")
        let id = try #require(made.json["id"] as? String)
        #expect(try await world("GET", Self.path + "/\(id)").text == made.text)
        #expect(try await world("GET", Self.path).text == #"{"items":[\#(made.text)],"nextCursor":null}"#)
        #expect(try await world("GET", Self.path + "/\(Sample.otherID)").slug == "reconciliation-not-found")
    }
}
