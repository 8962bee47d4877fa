internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import HTTPTypes
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// The reports of phones, and the reports that are refused before the store is called.
@Suite(.database)
struct InstallationRouteTests {
    private static let id = "8a2f3c1b-0000-4000-8000-000000000001"
    private static let path = "/v1/apps/com.example.Stadium/production/installations/\(id)"
    private static let secret = ["Grandstand-Installation-Secret": String(repeating: "s", count: 43)]

    private static func call(
        _ world: RouteWorld, _ method: String, _ path: String = path, _ body: String? = nil,
        headers: [String: String] = secret, as key: String? = "gs_device"
    ) async throws -> RouteWorld.Answer {
        try await world(method, path, body, headers: headers, as: key)
    }

    @Test func `an app registers, reports an activity, and reads both with its tokens' last digits`() async throws {
        let world = RouteWorld()
        try await world.rows.put(.sample(audiences: [.sample("com.example.Stadium")]), as: "derby")
        let body = """
            {"sequence": 12, "systemVersion": "18.4", "appVersion": "5.2", "locale": "de-AT", "variant": "home",
             "timeZone": "Europe/Vienna", "liveActivitiesEnabled": false, "frequentPushesEnabled": false,
             "startTokens": [{"attributesType": "MatchAttributes", "token": "80ABCDEF0123456789"}],
             "topics": ["team:rapid", "league:at1", "team:rapid"]}
            """
        #expect(try await Self.call(world, "PUT", Self.path, body).status == 201)
        #expect(try await Self.call(world, "PUT", Self.path, body).status == 200)
        let report = #"{"eventKey": "derby", "attributesType": "M", "state": "stale", "updateToken": "80ABCDEF01"}"#
        #expect(try await Self.call(world, "PUT", Self.path + "/activities/x", report).status == 201)
        try await world.rows.pool.query("update start_tokens set suspect_since = now()")
        let answer = try await Self.call(world, "GET")
        #expect(answer.status == 200)
        #expect(
            answer.text
                == #"{"installationId":"\#(Self.id)","sequence":12,"systemVersion":"18.4","appVersion":"5.2","#
                + #""locale":"de-AT","variant":"home","timeZone":"Europe/Vienna","liveActivitiesEnabled":false,"#
                + #""frequentPushesEnabled":false,"startTokens":[{"attributesType":"MatchAttributes","#
                + #""token":"…456789","suspect":true}],"topics":["league:at1","team:rapid"],"#
                + #""activities":[{"activityId":"x","eventKey":"derby","attributesType":"M","state":"stale","#
                + #""updateToken":"…cdef01","channelId":null}]}"#)
        #expect(try await Self.call(world, "PUT", Self.path, #"{"systemVersion": "17"}"#).status == 200)
        let less = try await Self.call(world, "GET")
        #expect(less.json["systemVersion"] as? String == "17.0")
        #expect(less.json["topics"] as? [String] == [] && less.json["locale"] is NSNull)
        #expect((less.json["startTokens"] as? [Any])?.isEmpty == true)
    }

    /// A device token must not get into logs of answers.
    @Test(arguments: [
        (path, #"{"systemVersion": "18", "startTokens": [\#(token), \#(token)]}"#, "/startTokens/1/attributesType"),
        (path + "/activities/a%20b", "{}", "activityId"),
    ])
    func `a refusal names the place, and repeats no token`(path: String, body: String, pointer: String) async throws {
        let answer = try await Self.call(RouteWorld(), "PUT", path, body)
        #expect(answer.pointers == [pointer] && !answer.text.contains("0000000000"))
    }

    private static let token = #"{"attributesType": "M", "token": "0000000000"}"#

    @Test(arguments: [
        nil, "", "short", String(repeating: "s", count: 42), String(repeating: "s", count: 129),
        String(repeating: "s", count: 42) + "+",
    ])
    func `without a possible secret no store is called`(secret: String?) async throws {
        let headers = secret.map { ["Grandstand-Installation-Secret": $0] } ?? [:]
        for operation in Contract.Operation.all where operation.scopes == [.device] {
            let answer = try await Self.call(
                RouteWorld(), operation.method, operation.sample, "{}", headers: headers)
            #expect(answer.status == 422, "\(operation.id)")
            #expect(answer.pointers == ["Grandstand-Installation-Secret"])
        }
    }

    @Test func `of a hundred wrong secrets ten are told so, and no other phone waits`() async throws {
        let world = RouteWorld()
        let right = ["Grandstand-Installation-Secret": String(repeating: "r", count: 43)]
        let other = String(Self.path.dropLast()) + "2"
        try await world.rows.apps.put(.sample("com.example.Stadium", at: world.rows.now))
        for path in [Self.path, other] {
            let made = try await Self.call(world, "PUT", path, #"{"systemVersion": "18"}"#, headers: right)
            #expect(made.status == 201)
        }
        var slugs: [String: Int] = [:]
        for _ in 0..<100 {
            let answer = try await Self.call(world, "GET")
            slugs[answer.slug ?? "none", default: 0] += 1
            if answer.slug == "rate-limited" { #expect(answer.headers[.retryAfter] != nil) }
        }
        #expect(slugs == ["wrong-installation-secret": 10, "rate-limited": 90])
        for path in [Self.path, other] {
            #expect(try await Self.call(world, "GET", path, headers: right).status == 200)
        }
        #expect(try await Self.call(world, "GET", other).slug == "wrong-installation-secret")
    }

    @Test func `beyond the limit of new installations per address only known ones are accepted`() async throws {
        var world = RouteWorld()
        try await world.rows.apps.put(.sample("com.example.Stadium", at: world.rows.now))
        world.limits = RateLimits(installations: 3)
        let paths = (1...5).map { String(Self.path.dropLast()) + "\($0)" }
        let body = #"{"systemVersion": "18"}"#
        var statuses: [Int] = []
        for path in paths { statuses.append(try await Self.call(world, "PUT", path, body).status) }
        #expect(statuses == [201, 201, 201, 429, 429])
        let refused = try await Self.call(world, "PUT", paths[3], body)
        #expect(refused.slug == "rate-limited" && refused.headers[.retryAfter] != nil)
        #expect(try await world.rows.rows("installations") == 3)
        #expect(try await Self.call(world, "PUT", paths[0], body).status == 200)
    }
}
