internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import HTTPTypes
internal import Testing

@testable internal import GrandstandServer

/// `/v1/apps/{bundleId}/{environment}/channels`.
struct ChannelRouteTests {
    private static let base = "/v1/apps/com.example.Stadium/production/channels"
    private static let one = base + "/11111111-2222-4333-8444-555555555555"
    private static let shape =
        #"{"id":"11111111-2222-4333-8444-555555555555","channelId":"abc==","bundleId":"com.example.Stadium","#
        + #""environment":"production","storagePolicy":"noMessageStored","state":"active","eventKey":null,"#
        + #""label":"gate 7","reason":null,"nextAttemptAt":null,"createdAt":"2026-11-21T20:45:00.000Z","managed":true}"#
    private static let selector = AppEnvironment(bundleID: Sample.stadium, environment: .production)

    /// A world with one app and one channel.
    private static func world() -> RouteWorld {
        var world = RouteWorld()
        world.apps.find = { $0.topic == Sample.stadium.topic ? Sample.app() : nil }
        world.channels.find = { $0 == Sample.id ? Sample.channel() : nil }
        world.channels.locate = { $0 == selector ? Sample.address : nil }
        return world
    }

    /// A world whose ledger accepts the intent of a creation, and whose gateway returns this answer of APNs.
    private static func creating(_ answer: APNsAnswer<String>) -> RouteWorld {
        var world = Self.world()
        world.channels.intend = { draft in
            let wanted = ChannelDraft(
                bundleID: Sample.stadium, environment: .production, storagePolicy: .noMessageStored, label: "gate 7")
            guard draft == wanted else { throw Unasked() }
            return Sample.task(.creating)
        }
        world.gateway.create = { policy, _ in policy == .noMessageStored ? answer : .unanswered("another policy") }
        world.gateway.state = .ok
        world.channels.note = { outcome, _ in
            Sample.channel(outcome.change == .created(channelID: "abc==") ? .active : .deleted)
        }
        return world
    }

    private static let draft = #"{"storagePolicy": "noMessageStored", "label": "gate 7"}"#

    @Test func `a channel is created as requested and returned completely`() async throws {
        let answer = try await Self.creating(.accepted("abc==", .init(requestID: nil)))("POST", Self.base, Self.draft)
        #expect(answer.status == 201)
        #expect(answer.text == Self.shape)
    }

    @Test func `Apple's answer to a creation is returned, or that there was none`() async throws {
        let refusal = APNsRefusal(status: 400, reason: .broadcastFeatureNotEnabled)
        let refused = try await Self.creating(.refused(refusal))("POST", Self.base, Self.draft)
        #expect(refused.status == 502 && refused.slug == "apns-refused")
        #expect((refused.json["apns"] as? [String: Any])?["reason"] as? String == "BroadcastFeatureNotEnabled")
        #expect(refused.detail.contains("Broadcast Capability"))
        let throttled = APNsRefusal(status: 429, reason: .tooManyRequests, retryAfter: 7)
        let waits = try await Self.creating(.refused(throttled))("POST", Self.base, Self.draft)
        #expect(waits.status == 502 && waits.headers[.retryAfter] == "7")
        let unanswered = try await Self.creating(.unanswered("no answer"))("POST", Self.base, Self.draft)
        #expect(unanswered.status == 504)
        #expect(unanswered.json["id"] as? String == Sample.id.uuidString)
    }

    @Test func `a list is filtered and paged by its query`() async throws {
        var world = Self.world()
        world.channels.list = { app, filter, page in
            guard app == Self.selector else { throw Unasked() }
            let isNarrow = filter != ChannelFilter()
            let wanted = ChannelFilter(
                state: .active, storagePolicy: .noMessageStored, eventKey: Sample.derby, channelID: "abc==")
            guard !isNarrow || filter == wanted,
                page == (isNarrow ? PageRequest(limit: 2, cursor: "c") : PageRequest(limit: 50))
            else { throw Unasked() }
            return Page(items: [Sample.channel()], nextCursor: isNarrow ? "next" : nil)
        }
        let query = "?state=active&storagePolicy=noMessageStored&eventKey=derby&channelId=abc%3D%3D&limit=2&cursor=c"
        #expect(
            try await world("GET", Self.base + query).text == #"{"items":[\#(Self.shape)],"nextCursor":"next"}"#)
        #expect(
            try await world("GET", Self.base + "?managed=true").text == #"{"items":[\#(Self.shape)],"nextCursor":null}"#
        )
    }

    @Test func `a channel is shown, and Apple is asked only on request`() async throws {
        var world = Self.world()
        #expect(try await world("GET", Self.one).text == Self.shape)
        let none = try await world("GET", Self.base + "/\(Sample.otherID)")
        #expect(none.slug == "channel-not-found")
        #expect(none.detail.contains("not Apple's channelId"))
        world.gateway.read = { id, _ in
            id == "abc==" ? .accepted(.noMessageStored, .init(requestID: nil)) : .unanswered("another")
        }
        let verified = try await world("GET", Self.one + "?verify=true")
        #expect(
            verified.text
                == Self.shape.dropLast()
                + #","verified":{"exists":true,"storagePolicy":"noMessageStored","at":"2026-11-21T20:45:00.000Z"}}"#)
        world.gateway.read = { _, _ in .refused(APNsRefusal(status: 410, reason: .channelNotRegistered)) }
        let gone = try await world("GET", Self.one + "?verify=true").json["verified"] as? [String: Any]
        #expect(gone?["exists"] as? Bool == false)
    }

    @Test(arguments: [("", false), ("?force=false", false), ("?force=true", true)])
    func `a deletion is forced only on request`(query: String, isForced: Bool) async throws {
        var world = Self.world()
        world.channels.begin = { id, app, force in
            guard id == Sample.id, app == Self.selector, force == isForced else { throw Unasked() }
            return Sample.task(.deleting)
        }
        world.gateway.delete = { id, _ in
            id == "abc==" ? .accepted((), .init(requestID: nil)) : .unanswered("another")
        }
        world.channels.note = { outcome, _ in Sample.channel(outcome.change == .deleted ? .deleted : .deleting) }
        let answer = try await world("DELETE", Self.one + query)
        #expect(answer.status == 204)
        #expect(answer.body.isEmpty)
    }

    @Test func `an interrupted creation is continued, awaited or started again`() async throws {
        var world = Self.creating(.accepted("abc==", .init(requestID: nil)))
        world.idempotency.stepwise = { _, recover, work in
            if let answer = try await recover(Sample.id) { return .init(answer: answer, isReplay: true) }
            return .init(answer: try await work(), isReplay: false)
        }
        let headers = ["Idempotency-Key": "k"]
        let cases: [(Channel.State?, Int, replayed: Bool)] = [
            (.active, 201, true), (.creating, 404, false), (.failed, 201, false), (.deleted, 201, false),
            (nil, 201, false),
        ]
        for (state, status, replayed) in cases {
            world.channels.find = { _ in
                var channel = state.map { Sample.channel($0) }
                // APNs refused the creation, so there is no channel ID.
                if state == .deleted { channel?.channelID = nil }
                return channel
            }
            let answer = try await world("POST", Self.base, Self.draft, headers: headers)
            #expect(answer.status == status, "\(String(describing: state))")
            #expect((answer.headers[.idempotentReplayed] == "true") == replayed, "\(String(describing: state))")
            if state == .creating {
                #expect(answer.slug == "channel-pending")
                #expect(answer.headers[.retryAfter] == "2")
            }
        }
    }
}
