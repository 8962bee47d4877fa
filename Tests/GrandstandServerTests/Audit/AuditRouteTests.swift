internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// `/v1/audit-log`.
@Suite(.database)
struct AuditRouteTests {
    private static let path = "/v1/audit-log"

    /// Adds an entry as stores write it.
    private static func add(
        _ id: Int, at: Date = RouteWorld.now, by actor: String = "key:ops",
        _ action: Contract.AuditAction = .channelRefused,
        of bundleID: BundleID = Sample.other, to world: RouteWorld
    ) async throws {
        try await world.database.query(
            """
            insert into audit_log (id, at, actor, action, bundle_id) overriding system value
            values (\(id), \(at), \(actor), \(action.rawValue)::text::audit_action, \(bundleID.rawValue))
            """)
    }

    @Test func `audit entries have all their members, and those that do not apply are null`() async throws {
        let world = RouteWorld()
        try await Self.add(5, to: world)
        try await world.database.query(
            """
            insert into audit_log (id, at, actor, api_key, action, bundle_id, environment, channel, channel_id,
                event_key, reason, signing_key, apns_status, apns_reason)
            overriding system value
            values (7, \(RouteWorld.now), 'key:ops', \(Sample.id), 'channel.refused', 'com.example.Stadium',
                'production', \(Sample.id), 'abc==', 'derby', 'why', 'KEY1234567', 400, 'BadPriority')
            """)
        let text = try await world("GET", Self.path + "?limit=1", as: "gs_operate").text
        #expect(
            text
                == #"{"items":[{"id":"7","at":"2026-11-21T20:45:00.000Z","actor":"key:ops","#
                + #""keyId":"\#(Sample.id.text)","action":"channel.refused","bundleId":"com.example.Stadium","#
                + #""environment":"production","channel":"\#(Sample.id.text)","channelId":"abc==","#
                + #""eventKey":"derby","broadcast":null,"reason":"why","signingKey":"KEY1234567","#
                + #""apns":{"status":400,"reason":"BadPriority","requestId":null}}],"nextCursor":"7"}"#)
    }

    @Test func `the log is narrowed and paged as the query says`() async throws {
        let world = RouteWorld()
        let now = RouteWorld.now
        for id in [1, 9] { try await Self.add(id, to: world) }
        try await Self.add(2, by: "key:other", to: world)
        try await Self.add(3, .channelCreated, to: world)
        try await Self.add(4, of: Sample.stadium, to: world)
        try await Self.add(5, at: now.addingTimeInterval(-1), to: world)
        try await Self.add(6, at: now.addingTimeInterval(60), to: world)
        let query =
            "?actor=key%3Aops&action=channel.refused&bundleId=com.example.OTHER&from=2026-11-21T20:45:00Z"
            + "&to=2026-11-21T20:46:00Z&limit=5&cursor=9"
        let answer = try await world("GET", Self.path + query)
        #expect(answer.items.map { $0["id"] as? String } == ["1"])
    }
}
