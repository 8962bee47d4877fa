internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import HTTPTypes
internal import Testing

@testable internal import GrandstandServer

/// `/v1/apps/{bundleId}/contents`.
@Suite(.database)
struct StateRouteTests {
    private static let contents = "/v1/apps/com.example.Stadium/contents"
    private static let type = contents + "/MatchAttributes"

    @Test func `a content type is declared, shown with its tag, and missing under another name`() async throws {
        let world = RouteWorld()
        _ = try await world.rows.apps.put(Sample.app(), by: .server)
        let body = #"{"versions": [{"name": "3.2", "schema": {"type": "object"}}]}"#
        let created = try await world("PUT", Self.type, body, as: "gs_organise")
        #expect(created.status == 201, "\(created.text)")
        let shown = try await world("GET", Self.type, as: "gs_organise")
        #expect(shown.headers[.eTag] != nil && shown.headers[.eTag] == created.headers[.eTag])
        #expect(shown.text.contains(#""check":"warn","versions":[{"name":"3.2","schema":{"type": "object"}}]"#))
        #expect(try await world("GET", Self.type + "2", as: "gs_organise").slug == "content-not-found")
    }
}
