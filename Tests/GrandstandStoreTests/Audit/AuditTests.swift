internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

@Suite(.timeLimit(.minutes(5)))
struct AuditTests {
    @Test func `changes of apps, events, channels and keys have their actors and Apple's answer, the newest first`()
        async throws
    {
        try await withStores { stores in
            let (key, _) = try await stores.keys.create(
                name: "desk", scopes: [.operate], bundleID: nil, by: .commandLine)
            _ = try await stores.apps.put(.sample(), by: AuditActor(key))
            _ = try await stores.events.put(.sample(), by: AuditActor(key), now: stores.now)
            try await stores.align()
            let task = try #require(try await stores.claimChannels().first)
            let answer = APNsRecord(status: 201, reason: nil, requestID: "request-1")
            let channel = try await stores.record(.created(channelID: "abc=="), of: task, answer)
            try await stores.events.cancel(.sample(), by: AuditActor(key), now: stores.now)
            try await stores.align()

            let entries = try await stores.auditLog.entries(where: AuditFilter(), PageRequest()).items
            #expect(
                entries.map(\.action).reversed() == [
                    .keyCreated, .appRegistered, .eventCreated, .channelCreated, .eventCancelled, .channelRetired,
                ])
            let created = try #require(entries.first { $0.action == .channelCreated })
            #expect(created.actor == "grandstand")
            #expect(created.answer == answer)
            #expect(created.signingKey == "KEY1234567")
            #expect(created.subject.channel == channel.id)
            #expect(created.subject.channelID == "abc==")
            #expect(created.subject.eventKey == (try .sample()))
            let cancelled = try #require(entries.first { $0.action == .eventCancelled })
            #expect(cancelled.actor == "key:desk")
            #expect(cancelled.keyID == key.id)
        }
    }

    @Test func `entries can be filtered and paged`() async throws {
        try await withStores { stores in
            for name in ["a", "b", "c"] { try await stores.apps.put(.sample("com.example.\(name)", at: stores.now)) }
            let later = stores.clock.advance(by: 10)
            _ = try await stores.apps.put(.sample("com.example.a", at: later), by: .commandLine)
            func count(_ filter: AuditFilter) async throws -> Int {
                let page = try await stores.auditLog.entries(where: filter, PageRequest())
                return page.items.count
            }
            #expect(try await count(AuditFilter(actor: "command-line")) == 1)
            #expect(try await count(AuditFilter(action: .appRegistered)) == 3)
            #expect(try await count(AuditFilter(bundleID: .sample("com.example.A"))) == 2)
            #expect(try await count(AuditFilter(from: later)) == 1)
            #expect(try await count(AuditFilter(to: later)) == 3)
            let first = try await stores.auditLog.entries(where: AuditFilter(), PageRequest(limit: 3))
            #expect(first.items.count == 3)
            let second = try await stores.auditLog.entries(
                where: AuditFilter(), PageRequest(limit: 3, cursor: first.nextCursor))
            #expect(second.items.count == 1)
            #expect(second.nextCursor == nil)
            #expect(Set((first.items + second.items).map(\.id)).count == 4)
        }
    }

    @Test(arguments: [
        "update audit_log set actor = 'nobody'", "delete from audit_log", "truncate audit_log",
    ])
    func `nobody changes or removes an entry`(_ statement: String) async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            await #expect(throws: PostgresError.self) {
                try await stores.pool.query(PostgresQuery(unsafeSQL: statement))
            }
            #expect(try await stores.auditLog.entries(where: AuditFilter(), PageRequest()).items.count == 1)
        }
    }

    @Test func `a refusal repeated for the same reason is one entry`() async throws {
        try await withStores { stores in
            try await stores.put(.sample())
            for reason in ["BadRequestParams", "BadRequestParams", "TopicDisallowed"] {
                try await stores.align()
                let task = try #require(try await stores.claimChannels().first)
                try await stores.record(
                    .notCreated(state: .failed, nextAttemptAt: stores.now), of: task,
                    APNsRecord(status: 400, reason: reason, requestID: nil))
            }
            let refusals = try await stores.auditLog.entries(where: AuditFilter(action: .channelRefused), PageRequest())
            #expect(refusals.items.map(\.answer?.reason) == ["TopicDisallowed", "BadRequestParams"])
        }
    }
}
