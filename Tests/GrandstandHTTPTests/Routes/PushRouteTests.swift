internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import PortFakes
internal import Synchronization
internal import Testing

@testable internal import GrandstandHTTP

/// Single pushes over HTTP: how requests are read and refused, and what answers show.
struct PushRouteTests {
    private static let path = "/v1/apps/com.example.Stadium/production/pushes"
    private static let start =
        #""token": "80AB", "event": "start", "contentState": {"n": 1}, "attributesType": "M", "attributes": { "a":1}"#
    private static let alert = #""alert": {"title": "t"}"#

    static let refusals: [Refusal] = [
        refusal("no token", #""event": "update", "contentState": {}"#, "/token"),
        refusal("a token that is a number", #""token": 1, "event": "update", "contentState": {}"#, "/token"),
        refusal("half a byte", #""token": "abc", "event": "update", "contentState": {}"#, "/token"),
        refusal("no hex", #""token": "zz", "event": "update", "contentState": {}"#, "/token"),
        refusal(
            "a token of 10 KB",
            #""token": "\#(String(repeating: "ab", count: 5_000))", "event": "update", "contentState": {}"#, "/token"),
        refusal("no event", #""token": "ab", "contentState": {}"#, "/event"),
        refusal("an event that is none", #""token": "ab", "event": "stop", "contentState": {}"#, "/event"),
        refusal("an update without content", #""token": "ab", "event": "update""#, "/contentState"),
        refusal(
            "a start without type",
            #""token": "ab", "event": "start", "contentState": {}, "attributes": {}, \#(alert)"#,
            "/attributesType"),
        refusal(
            "a start without attributes",
            #""token": "ab", "event": "start", "contentState": {}, "attributesType": "M", \#(alert)"#, "/attributes"),
        refusal("a start without alert", start, "/alert"),
        refusal("a start that shows nothing", #"\#(start), "alert": {"sound": "s"}"#, "/alert"),
        refusal(
            "a start with both inputs", #"\#(start), \#(alert), "inputPushChannel": "c", "inputPushToken": true"#,
            "/inputPushToken"),
        refusal(
            "an update with attributes", #""token": "ab", "event": "update", "contentState": {}, "attributes": {}"#,
            "/attributes"),
        refusal(
            "an end with a channel", #""token": "ab", "event": "end", "inputPushChannel": "c""#, "/inputPushChannel"),
        refusal(
            "a start with a dismissal", #"\#(start), \#(alert), "dismissalDate": "2026-11-21T20:45:00Z""#,
            "/dismissalDate"),
        .init(
            "audiences", "POST", path,
            #"{"token": "ab", "event": "update", "contentState": {}, "audiences": []}"#, slug: "unknown-field",
            pointers: ["/audiences"]),
        .init(
            "a start as a broadcast", "POST", "/v1/events/derby/broadcasts", #"{"event": "start", "contentState": {}}"#,
            pointers: ["/event"], hint: "update, end"),
        .init("no UUID", "GET", "/v1/pushes/1", status: 404, slug: "push-not-found"),
    ]

    private static func refusal(_ description: String, _ members: String, _ pointer: String) -> Refusal {
        Refusal(description, "POST", path, "{\(members)}", pointers: [pointer])
    }

    @Test(arguments: refusals)
    func `a fault is reported with its place`(refusal: Refusal) async throws { try await refusal.check() }

    private static func push(_ event: BroadcastPayload.Event, _ token: DeviceToken) -> Broadcast {
        Broadcast(
            id: Sample.id, eventKey: nil,
            recipient: TokenAddress(
                app: AppEnvironment(bundleID: Sample.stadium, environment: .production), token: token),
            event: event, acceptedAt: RouteWorld.now, sendAt: nil, isScheduled: false, deliveries: [], warnings: [])
    }

    @Test func `a push is accepted as written, and only the last digits of its token are shown`() async throws {
        let taken = Mutex<[BroadcastIntake]>([])
        var world = RouteWorld()
        world.apps.find = { _ in Sample.app() }
        world.outbox.take = { intakes in
            taken.withLock { $0 += intakes }
            return try intakes.map { intake in
                .success(Self.push(.start, try #require(intake.target.token).token))
            }
        }
        let token = String(repeating: "80AB", count: 20)
        let body = Self.start.replacing("80AB", with: token)
        // The bundle ID in the path may have other capitals than the registered one.
        let answer = try await world(
            "POST", "/v1/apps/com.example.stadium/production/pushes",
            #"{\#(body), \#(Self.alert), "inputPushChannel": "ab/c=="}"#, as: "gs_organise")
        #expect(answer.status == 202, "\(answer.text)")
        #expect(answer.json["token"] as? String == "…ab80ab")
        #expect(!answer.text.lowercased().contains(token.lowercased()))
        let intake = try #require(taken.withLock { $0 }.first)
        #expect(intake.target.token?.app.bundleID == Sample.stadium)
        #expect(intake.request.bodyLimit == 4_096)
        let start = try #require(intake.request.payload.start)
        #expect(String(decoding: start.attributes, as: UTF8.self) == #"{ "a":1}"#)
        #expect(String(decoding: start.attributesType, as: UTF8.self) == #""M""#)
        #expect(start.input != nil && intake.request.payload.event == .start)
    }

    @Test func `a push can be read, and is not a broadcast, nor is a broadcast a push`() async throws {
        var world = RouteWorld()
        let push = Self.push(.update, try #require(DeviceToken(hex: "80abcdef")))
        world.outbox.find = { _ in push }
        let path = "/v1/pushes/\(Sample.id.uuidString.lowercased())"
        let answer = try await world("GET", path, as: "gs_organise")
        #expect(answer.status == 200)
        #expect(answer.json["token"] as? String == "…abcdef" && answer.json["delivery"] is NSNull)
        let other = path.replacing("pushes", with: "broadcasts")
        #expect(try await world("GET", other).slug == "broadcast-not-found")
        world.outbox.find = { _ in
            var broadcast = push
            broadcast.recipient = nil
            return broadcast
        }
        #expect(try await world("GET", path).slug == "push-not-found")
        world.outbox.find = { _ in nil }
        #expect(try await world("GET", path).slug == "push-not-found")
    }

    @Test func `a push can be withdrawn, unless it was sent or does not exist`() async throws {
        var world = RouteWorld()
        let path = "/v1/pushes/\(Sample.id.uuidString.lowercased())"
        for (answer, status, slug) in [(true, 204, nil), (false, 409, "push-sent"), (nil, 404, "push-not-found")] {
            world.outbox.withdrawPush = { id in
                #expect(id == Sample.id)
                return answer
            }
            let answer = try await world("DELETE", path, as: "gs_organise")
            #expect(answer.status == status)
            #expect(answer.slug == slug)
        }
        #expect(try await world("DELETE", "/v1/pushes/1").slug == "push-not-found")
    }

    @Test func `only keys that organise may push, and only to their own app`() async throws {
        let body = #"{"token": "ab", "event": "update", "contentState": {}}"#
        for key in ["gs_device", "gs_lookup", "gs_operate"] {
            #expect(try await RouteWorld()("POST", Self.path, body, as: key).status == 403)
        }
        let other = "/v1/apps/com.example.Other/production/pushes"
        #expect(try await RouteWorld()("POST", other, body, as: "gs_stadium").slug == "forbidden")
        var world = RouteWorld()
        world.apps.find = { _ in nil }
        #expect(try await world("POST", Self.path, body).slug == "app-not-found")
    }
}
