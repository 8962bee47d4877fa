internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import PortFakes
internal import Testing

@testable internal import GrandstandHTTP

/// `/v1/audit-log`.
struct AuditRouteTests {
    private static let path = "/v1/audit-log"

    private static func world(_ wanted: AuditFilter, _ page: PageRequest = PageRequest(limit: 50)) -> RouteWorld {
        var world = RouteWorld()
        world.auditLog.list = { filter, asked in
            guard filter == wanted, asked == page else { throw Unasked() }
            return Page(
                items: [
                    AuditEntry(
                        id: 7, at: RouteWorld.now, actor: "key:ops", keyID: Sample.id, action: .channelRefused,
                        subject: .init(
                            bundleID: Sample.stadium, environment: .production, channel: Sample.id, channelID: "abc==",
                            eventKey: Sample.derby),
                        reason: "why", signingKey: "KEY1234567",
                        answer: APNsRecord(status: 400, reason: "BadPriority", requestID: nil)),
                    AuditEntry(
                        id: 6, at: RouteWorld.now, actor: "grandstand", keyID: nil, action: .eventExpired,
                        subject: .init(), reason: nil, signingKey: nil, answer: nil),
                ], nextCursor: "6")
        }
        return world
    }

    static let refusals: [Refusal] = [
        .init("no action", "GET", path + "?action=nothing", pointers: ["action"], hint: "channel.created"),
        .init("no bundle ID", "GET", path + "?bundleId=a%20b", pointers: ["bundleId"]),
        .init("no time", "GET", path + "?from=yesterday", pointers: ["from"], hint: "RFC 3339"),
        .init(
            "an end before its begin", "GET", path + "?from=2026-11-21T20:45:01Z&to=2026-11-21T20:45:00Z",
            pointers: ["to"], hint: "after from"),
        .init("no end of time", "GET", path + "?to=2026-11-21", pointers: ["to"]),
        .init("a page of a word", "GET", path + "?limit=all", pointers: ["limit"]),
    ]

    @Test(arguments: refusals)
    func `bad input is refused before any call`(refusal: Refusal) async throws { try await refusal.check() }

    @Test func `entries are complete, and members that do not apply are null`() async throws {
        let text = try await Self.world(AuditFilter())("GET", Self.path, as: "gs_operate").text
        #expect(
            text
                == #"{"items":[{"id":"7","at":"2026-11-21T20:45:00.000Z","actor":"key:ops","#
                + #""keyId":"11111111-2222-4333-8444-555555555555","action":"channel.refused","#
                + #""bundleId":"com.example.Stadium","environment":"production","#
                + #""channel":"11111111-2222-4333-8444-555555555555","channelId":"abc==","eventKey":"derby","#
                + #""broadcast":null,"reason":"why","signingKey":"KEY1234567","#
                + #""apns":{"status":400,"reason":"BadPriority","requestId":null}},"#
                + #"{"id":"6","at":"2026-11-21T20:45:00.000Z","actor":"grandstand","keyId":null,"#
                + #""action":"event.expired","bundleId":null,"environment":null,"channel":null,"channelId":null,"#
                + #""eventKey":null,"broadcast":null,"reason":null,"signingKey":null,"apns":null}],"nextCursor":"6"}"#)
    }

    @Test func `the log is filtered and paged by the query`() async throws {
        let filter = AuditFilter(
            actor: "key:ops", action: .channelRefused, bundleID: Sample.other, from: RouteWorld.now,
            to: RouteWorld.now.addingTimeInterval(60))
        let query =
            "?actor=key%3Aops&action=channel.refused&bundleId=com.example.Other&from=2026-11-21T20:45:00Z"
            + "&to=2026-11-21T20:46:00Z&limit=5&cursor=9"
        let world = Self.world(filter, PageRequest(limit: 5, cursor: "9"))
        #expect(try await world("GET", Self.path + query).status == 200)
    }

    @Test func `a key of one app reads only that app's entries`() async throws {
        for (query, asked) in [("", nil), ("?bundleId=com.example.Stadium", Sample.stadium)] {
            let world = Self.world(AuditFilter(bundleID: asked, within: .only([Sample.stadium])))
            #expect(try await world("GET", Self.path + query, as: "gs_stadium").status == 200, "\(query)")
        }
        let other = try await RouteWorld()("GET", Self.path + "?bundleId=com.example.Other", as: "gs_stadium")
        #expect(other.status == 403)
        #expect(other.detail.contains("com.example.Stadium only"))
    }
}
