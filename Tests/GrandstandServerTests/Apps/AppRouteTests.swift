internal import APNsWire
internal import Foundation
internal import Grandstand
internal import HTTPTypes
internal import Testing

@testable internal import GrandstandServer

struct AppRouteTests {
    private static func world() throws -> RouteWorld {
        let bundleID = try #require(BundleID(rawValue: "com.example.Stadium"))
        let app = App(
            bundleID: bundleID, name: "Stadium", credentials: Credentials(teamID: "TEAM123456", keyID: "KEY1234567"),
            version: 7)
        var world = RouteWorld()
        world.apps.find = { $0 == app.bundleID ? app : nil }
        world.apps.list = { _, reach in
            Page(items: reach.covers(app.bundleID) ? [app] : [], nextCursor: nil)
        }
        world.gateway.state = .ok
        return world
    }

    @Test func `a lookup key sees an app's name, but not its team, keys or quirks`() async throws {
        let world = try Self.world()
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
        var world = try Self.world()
        let shown = try await world("GET", "/v1/apps/com.example.Stadium")
        #expect(shown.headers[.eTag] == #""7""# && shown.headers[.cacheControl] == "no-store, no-transform")
        let body = Array(#"{"name": "x", "teamId": "TEAM123456", "keyId": "KEY1234567"}"#.utf8)
        let conditions: [([String: String], WriteCondition)] = [
            ([:], .none), (["If-Match": #""7""#], .versions([7])), (["If-Match": #""0", "7""#], .versions([0, 7])),
            (["If-Match": #"W/"7", "8-gzip", "-9", "9-x""#], .versions([7, 8])), (["If-Match": "*"], .present),
            (["If-None-Match": "*"], .absent),
        ]
        for (headers, expected) in conditions {
            world.apps.save = { _, condition in
                guard condition == expected else { throw Unasked() }
                throw Problem(.versionMismatch, "It is as expected.")
            }
            let answer = try await world("PUT", "/v1/apps/com.example.Stadium", body, headers: headers)
            #expect(answer.slug == "version-mismatch", "\(headers)")
        }
        for headers in [
            ["If-Match": "7"], ["If-None-Match": #""7""#], ["If-Match": #""7""#, "If-None-Match": "*"],
        ] {
            let answer = try await world("PUT", "/v1/apps/com.example.Stadium", body, headers: headers)
            #expect(answer.slug == "invalid-request", "\(headers)")
        }
    }

    private static let place = "/v1/apps/com.example.Stadum/production"
    private static let id = "11111111-2222-4333-8444-555555555555"

    @Test(
        arguments: [
            ("GET", "/channels", nil), ("GET", "/channels?managed=false", nil), ("GET", "/channels/\(id)", nil),
            ("DELETE", "/channels/\(id)", nil), ("POST", "/channels/import", #"{"channelId": "abc=="}"#),
            ("POST", "/channels/\(id)/broadcasts", #"{"event": "update", "contentState": {}}"#),
            ("GET", "/reconciliations", nil), ("GET", "/reconciliations/\(id)", nil),
            ("GET", "/v1/events?bundleId=com.example.Stadum", nil),
        ] as [(String, String, String?)])
    func `an unknown app is distinguished from an app without objects`(
        method: String, path: String, body: String?
    ) async throws {
        let answer = try await Self.empty(
            method, path.hasPrefix("/v1") ? path : Self.place + path, body.map { Array($0.utf8) })
        #expect(answer.status == 404)
        #expect(answer.slug == "app-not-found")
        #expect(answer.detail.contains("PUT /v1/apps"))
    }

    /// A world whose ports find nothing.
    private static var empty: RouteWorld {
        var world = RouteWorld()
        world.apps.find = { _ in nil }
        world.channels.find = { _ in nil }
        world.channels.locate = { _ in nil }
        world.reconciliations.read = { _, _ in nil }
        return world
    }
}
