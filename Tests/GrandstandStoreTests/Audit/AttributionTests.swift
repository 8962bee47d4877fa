internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

/// The actor of a broadcast.
@Suite(.timeLimit(.minutes(20)))
struct AttributionTests {
    private static let desk = AuditActor.key(id: UUID(), name: "desk")
    private static let night = AuditActor.key(id: UUID(), name: "night shift")

    private func accept(
        _ stores: Stores, _ request: BroadcastRequest, for target: BroadcastTarget, by actor: AuditActor = Self.desk
    ) async throws -> Broadcast {
        try #require(
            try await stores.outbox.accept(
                [BroadcastIntake(target, request: request, by: actor)], now: stores.now, plan: Stores.plan
            ).first
        ).get()
    }

    @Test func `every broadcast and its audit entry name the key that sent it`() async throws {
        try await withStores { stores in
            let key = try await stores.open()
            let first = try await accept(stores, .update(), for: .event(key))
            _ = stores.clock.advance(by: 1)
            let end = try await accept(stores, .end(), for: .event(key), by: Self.night)
            #expect(first.by == "key:desk")
            #expect(try await stores.outbox.broadcast(first.id)?.by == "key:desk")
            #expect(
                try await stores.outbox.broadcasts(of: key, PageRequest()).items.map(\.by) == [
                    "key:night shift", "key:desk",
                ])

            let all = try await stores.audited(AuditFilter(action: .broadcastAccepted, bundleID: .sample()))
            #expect(all.map(\.subject.broadcast) == [end.id, first.id])
            #expect(all.map(\.reason) == ["end", "update"])
            #expect(all.map(\.keyID) == [Self.night.keyID, Self.desk.keyID])
            #expect(all.allSatisfy { $0.subject.eventKey == key })
            let mine = try await stores.audited(AuditFilter(actor: "key:desk", action: .broadcastAccepted))
            #expect(mine.map(\.subject.broadcast) == [first.id])
        }
    }

    @Test func `the entry of a channel without an event names the channel`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            let channel = try await stores.record(.created(channelID: "abc=="), of: stores.reserve())
            let broadcast = try await accept(stores, .update(), for: .channel(channel.id))
            _ = try await stores.outbox.cancel(broadcast.id, within: .all, by: Self.night, now: stores.now)
            let found = try await stores.audited(AuditFilter(bundleID: .sample())).filter {
                $0.subject.broadcast == broadcast.id
            }
            #expect(found.map(\.action) == [.broadcastWithdrawn, .broadcastAccepted])
            #expect(found.allSatisfy { $0.subject.channel == channel.id && $0.subject.eventKey == nil })
        }
    }

    @Test(arguments: [nil, 60.0])
    func `a broadcast to two apps has an entry for each, so that neither app's log shows the other`(
        in seconds: TimeInterval?
    )
        async throws
    {
        try await withStores { stores in
            let other = try Audience.sample("com.example.Other")
            let key = try await stores.open(audiences: [.sample(), other])
            let sendAt = seconds.map { stores.now.addingTimeInterval($0) }
            let both = try await accept(stores, .update(sendAt: sendAt), for: .event(key))
            let one = try await accept(
                stores, .update(sendAt: sendAt, audiences: [other.id]), for: .event(key))
            for id in [one.id, both.id] {
                #expect(try await stores.outbox.cancel(id, within: .all, by: Self.night, now: stores.now) == true)
            }
            func told(_ app: String) async throws -> [UUID?] {
                try await stores.audited(AuditFilter(actor: "key:night shift", bundleID: .sample(app)))
                    .map(\.subject.broadcast)
            }
            #expect(try await told("com.example.Goal") == [both.id])
            #expect(try await told("com.example.Other") == [both.id, one.id])
            #expect(try await stores.audited(AuditFilter(action: .broadcastAccepted)).count == 3)
        }
    }

    @Test func `a withdrawal is one entry, even if it is repeated, and one that came too late has no entry`()
        async throws
    {
        try await withStores { stores in
            let key = try await stores.open()
            let broadcast = try await accept(stores, .update(), for: .event(key))
            for _ in 1...2 {
                #expect(
                    try await stores.outbox.cancel(broadcast.id, within: .all, by: Self.night, now: stores.now) == true)
            }
            let sent = try await accept(stores, .update(), for: .event(key))
            try await stores.sendOne()
            #expect(try await stores.outbox.cancel(sent.id, within: .all, by: Self.night, now: stores.now) == false)
            let entries = try await stores.audited(AuditFilter(action: .broadcastWithdrawn))
            #expect(entries.map(\.subject.broadcast) == [broadcast.id])
            #expect(entries.map(\.actor) == ["key:night shift"])
        }
    }

    @Test func `an event's entries are found by each of its apps, including a removed one`() async throws {
        try await withStores { stores in
            let other = try Audience.sample("com.example.Other")
            let key = try await stores.put(.sample(audiences: [.sample(), other])).specification.key
            try await stores.put(.sample(audiences: [.sample()]))
            try await stores.events.cancel(key, by: Self.desk, now: stores.now)
            func told(_ app: String) async throws -> [AuditAction] {
                try await stores.audited(AuditFilter(bundleID: .sample(app))).map(\.action).filter {
                    [.eventCreated, .eventChanged, .eventCancelled].contains($0)
                }
            }
            #expect(try await told("com.example.Goal") == [.eventCancelled, .eventChanged, .eventCreated])
            #expect(try await told("com.example.Other") == [.eventChanged, .eventCreated])
        }
    }
}
