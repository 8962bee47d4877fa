internal import APNsWire
internal import Foundation
internal import Grandstand
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

    @Test func `a push can be read and withdrawn, and is not a broadcast, nor is a broadcast a push`() async throws {
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
        for (answer, status, slug) in [(true, 204, nil), (false, 409, "push-sent"), (nil, 404, "push-not-found")] {
            world.outbox.withdrawPush = { _ in answer }
            let answer = try await world("DELETE", path, as: "gs_organise")
            #expect(answer.status == status && answer.slug == slug)
        }
    }
}
