internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import PortFakes
internal import Synchronization
internal import Testing

@testable internal import GrandstandHTTP

/// An event's start: declaration, request, stop and report.
struct StartRouteTests {
    private static let audiences =
        #"[{"bundleId": "com.example.Goal", "environment": "production", "storagePolicy": "noMessageStored"}]"#
    private static let required = #""attributesType": "M", "attributes": {}, "alert": {"title": "t"}"#

    private static func event(_ members: String) -> [UInt8] {
        Array(#"{"name": "x", "audiences": \#(audiences), \#(members)}"#.utf8)
    }

    private static func start(_ members: String) -> [UInt8] {
        event(#""startsAt": "2026-11-21T20:45:00Z", "start": {\#(members)}"#)
    }

    /// Declares an event with this body, and returns the answer, which shows the event.
    private static func declared(_ body: [UInt8]) async throws -> RouteWorld.Answer {
        var world = RouteWorld()
        world.events.save = { specification, _, _ in
            (
                Event(
                    specification: specification, state: .scheduled,
                    channels: [Audience.ChannelStatus(state: .pending)], createdAt: RouteWorld.now,
                    updatedAt: RouteWorld.now), true
            )
        }
        return try await world("PUT", "/v1/events/derby", body)
    }

    @Test func `a start is shown as it was written`() async throws {
        let start =
            #"{"at":"2026-11-21T20:45:00.000Z","until":"2026-11-21T22:45:00.000Z","attributesType":"MatchAttributes","#
            + #""attributes":{ "home" : 1.0 },"contentState":{"a": [1]},"alert":{"title": {"loc-key": "k"}},"#
            + #""alertsByLocale":{"de-AT":{ "body":"ü"}},"staleDate":"2026-11-21T23:00:00.000Z","#
            + #""audiences":[{"bundleId":"com.example.Goal","environment":"production"}],"restart":false}"#
        let answer = try await Self.declared(Self.event(#""topics": ["team:a", "b"], "start": \#(start)"#))
        #expect(answer.status == 201)
        #expect(answer.text.contains(#""topics":["team:a","b"],"start":\#(start)"#), "\(answer.text)")
        let bare = try await Self.declared(Self.event(#""kind": "match""#))
        #expect(bare.text.contains(#""topics":[],"start":null"#))
    }

    /// The refusal of a declaration that is too long contains the size of the push. From this size the test computes
    /// how many bytes the push has besides the alert's text.
    @Test func `the longest push that APNs accepts is accepted, and one byte more is refused`() async throws {
        func body(_ length: Int) -> [UInt8] {
            let text = String(repeating: "x", count: length)
            return Self.start(#"\#(Self.required), "alertsByLocale": {"de": {"title": "\#(text)"}}"#)
        }
        let refused = try await RouteWorld()("PUT", "/v1/events/derby", body(4_096))
        #expect(refused.status == 413)
        #expect(refused.slug == "payload-too-large")
        let size = try #require(refused.json["size"] as? Int)
        let most = 4_096 - (size - 4_096)
        #expect(try await Self.declared(body(most)).status == 201)
        #expect(try await RouteWorld()("PUT", "/v1/events/derby", body(most + 1)).status == 413)
    }

    private static func reports() throws -> [(audience: Audience, report: StartReport)] {
        var counts = StartReport.Counts()
        (counts.followers, counts.accepted, counts.rejected, counts.unknown) = (10, 5, 2, 1)
        counts.ineligible = [.system: 2]
        return [
            (try .sample(), StartReport(state: .done, counts: counts, byReason: ["Unregistered": 2])),
            (try .sample("com.example.Other"), StartReport(state: .waiting, waitingFor: .room, counts: .init())),
        ]
    }

    @Test func `a report has numbers for each audience and for all`() async throws {
        var world = RouteWorld()
        world.starts.tell = { _, _ in try Self.reports() }
        let answer = try await world("GET", "/v1/events/derby/starts")
        #expect(
            answer.text.hasPrefix(
                #"{"state":"waiting","waitingFor":"room","startedAt":null,"finishedAt":null,"#
                    + #""counts":{"followers":10,"accepted":5,"confirmed":0,"rejected":2,"unknown":1,"pending":0,"#
                    + #""ineligible":{"system":2,"disabled":0,"noToken":0,"tooLate":0}},"byReason":{"Unregistered":2},"#
            ),
            "\(answer.text)")
        let audiences = try #require(answer.json["audiences"] as? [[String: Any]])
        #expect(audiences.map { $0["state"] as? String } == ["done", "waiting"])
    }

    @Test func `a dry run starts nothing, a request does, and a start can be stopped`() async throws {
        let asked = Mutex(0)
        let outlooks = Mutex<[StartOutlook]>([])
        var world = RouteWorld()
        world.starts.tell = { _, outlook in
            // The server counts the followers before it requests the start, because the request locks the event.
            #expect(asked.withLock { $0 } == 0)
            outlooks.withLock { $0.append(outlook) }
            return try Self.reports()
        }
        let dry = try await world("POST", "/v1/events/derby/starts", Array(#"{"dryRun": true}"#.utf8))
        #expect(dry.status == 200)
        world.starts.ask = { _, _ in asked.withLock { $0 += 1 } }
        let started = try await world("POST", "/v1/events/derby/starts")
        #expect(started.status == 202)
        #expect((started.json["by"] as? String)?.hasPrefix("key:") == true)
        #expect(asked.withLock { $0 } == 1)
        #expect(outlooks.withLock { $0 } == [.dryRun, .asked])
        world.starts.halt = { _, _ in }
        #expect(try await world("DELETE", "/v1/events/derby/starts").status == 204)
    }

    @Test func `an event without a start has no report`() async throws {
        var world = RouteWorld()
        world.starts.tell = { _, _ in nil }
        world.events.find = { _ in nil }
        #expect(try await world("GET", "/v1/events/derby/starts").slug == "event-not-found")
        world.events.find = { _ in
            Event(
                specification: try .sample(), state: .live, channels: [], createdAt: RouteWorld.now,
                updatedAt: RouteWorld.now)
        }
        #expect(try await world("GET", "/v1/events/derby/starts").slug == "invalid-request")
    }

    @Test func `topics are listed with their followers`() async throws {
        var world = RouteWorld()
        world.apps.find = { _ in try .sample() }
        world.starts.list = { app, page in
            #expect(app == (try .sample()))
            #expect(page.limit == 2)
            return Page(
                items: [TopicFollowers(topic: try #require(Topic(rawValue: "a")), followers: 3)], nextCursor: nil)
        }
        let path = "/v1/apps/com.example.Goal/production/topics?limit=2"
        #expect(try await world("GET", path).text == #"{"items":[{"topic":"a","followers":3}],"nextCursor":null}"#)
    }
}
