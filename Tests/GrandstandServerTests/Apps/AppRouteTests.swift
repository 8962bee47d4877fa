internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import HTTPTypes
internal import Testing

@testable internal import GrandstandServer

@Suite(.database)
struct AppRouteTests {
    private static func world() async throws -> RouteWorld {
        var world = RouteWorld()
        _ = try await world.rows.apps.put(Sample.app(), by: .server)
        world.gateway = ScriptedGateway()
        return world
    }

    @Test func `a lookup key sees an app's name, but not its team, keys or quirks`() async throws {
        let world = try await Self.world()
        let expected = #"{"bundleId":"com.example.Stadium","topic":"com.example.stadium","name":"Stadium"}"#
        #expect(try await world("GET", "/v1/apps/com.example.Stadium", as: "gs_lookup").text == expected)
        #expect(
            try await world("GET", "/v1/apps", as: "gs_lookup").text == #"{"items":[\#(expected)],"nextCursor":null}"#)
        // A key with any other scope that permits reading apps sees everything.
        let all = try await world("GET", "/v1/apps/com.example.Stadium", as: "gs_organise")
        #expect(all.json["teamId"] as? String == "TEAM123456")
        #expect(all.json["credentials"] as? [String: String] == ["development": "ok", "production": "ok"])
    }

    @Test func `an answer has its version, and a PUT passes on its condition`() async throws {
        let world = try await Self.world()
        let path = "/v1/apps/com.example.Stadium"
        let body = #"{"name": "x", "teamId": "TEAM123456", "keyId": "KEY1234567"}"#
        let forms: [(String) -> String] = [{ $0 }, { #""0", \#($0)"# }, { "W/\($0)" }, { "\($0.dropLast())-gzip\"" }]
        for form in forms {
            let shown = try await world("GET", path)
            #expect(shown.headers[.cacheControl] == "no-store, no-transform")
            let condition = ["If-Match": form(try #require(shown.headers[.eTag]))]
            #expect(try await world("PUT", path, body, headers: condition).status == 200, "\(condition)")
            #expect(try await world("PUT", path, body, headers: condition).slug == "version-mismatch", "\(condition)")
        }
        #expect(try await world("PUT", path, body, headers: ["If-Match": "*"]).status == 200)
        #expect(try await world("PUT", path, body, headers: ["If-None-Match": "*"]).slug == "version-mismatch")
        for headers in [
            ["If-Match": "7"], ["If-None-Match": #""7""#], ["If-Match": #""7""#, "If-None-Match": "*"],
        ] {
            let answer = try await world("PUT", path, body, headers: headers)
            #expect(answer.slug == "invalid-request", "\(headers)")
        }
    }

    private static let place = "/v1/apps/com.example.Stadum/production"
    private static let id = "11111111-2222-4333-8444-555555555555"

    @Test(
        arguments: [
            ("GET", "/channels?managed=false", nil), ("GET", "/channels/\(id)", nil),
            ("POST", "/channels/\(id)/broadcasts", #"{"event": "update", "contentState": {}}"#),
            ("GET", "/reconciliations", nil), ("GET", "/v1/events?bundleId=com.example.Stadum", nil),
        ] as [(String, String, String?)])
    func `an unknown app is distinguished from an app without objects`(
        method: String, path: String, body: String?
    ) async throws {
        let answer = try await RouteWorld()(
            method, path.hasPrefix("/v1") ? path : Self.place + path, body)
        #expect(answer.status == 404)
        #expect(answer.slug == "app-not-found")
        #expect(answer.detail.contains("PUT /v1/apps"))
    }
}
