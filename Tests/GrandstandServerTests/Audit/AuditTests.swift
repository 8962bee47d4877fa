internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

@Suite(.timeLimit(.minutes(20)))
struct AuditTests {
    @Test func `every change has its actor and Apple's answer, newest first`() async throws {
        try await withStores { stores in
            let (key, _) = try await stores.keys.create(
                name: "desk", scopes: [.operate], bundleID: nil, by: .commandLine)
            let desk = key.actor
            _ = try await stores.apps.put(.sample(), by: desk)
            _ = try await stores.events.put(.sample(), by: desk, now: stores.now)
            try await stores.align()
            let task = try #require(try await stores.claimChannels().first)
            let answer = Contract.AuditAnswer(status: 201, requestId: "request-1")
            let channel = try await stores.record(.created(channelID: "abc=="), of: task, answer)
            let intake = Intake(.event(try .sample()), request: .update(), by: desk)
            let sent = try await stores.accept([intake])[0].get()
            #expect(try await stores.read(sent)?.by == "key:desk")
            try await stores.sendOne()
            try await stores.events.cancel(.sample(), by: desk, now: stores.now)
            try await stores.align()

            let entries = try await stores.audited()
            #expect(
                entries.map(\.action).reversed() == [
                    .keyCreated, .appRegistered, .eventCreated, .channelCreated, .broadcastAccepted, .eventCancelled,
                    .channelRetired,
                ])
            let created = entries[3]
            #expect(created.actor == "grandstand" && created.apns == answer && created.signingKey == "KEY1234567")
            #expect(created.channel == channel.id.text && created.channelId == "abc==")
            #expect(created.eventKey == "match-1")
            #expect(entries[2].broadcast == sent.id && entries[2].reason == "update")
            for entry in entries[1...2] { #expect(entry.actor == "key:desk" && entry.keyId == key.id.text) }
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
            #expect(try await stores.audited().count == 1)
        }
    }

    @Test func `a refusal repeated for the same reason is one entry`() async throws {
        try await withStores { stores in
            try await stores.put(.sample())
            for reason in ["BadRequestParams", "BadRequestParams", "TopicDisallowed"] {
                try await stores.align()
                let task = try #require(try await stores.claimChannels().first)
                try await stores.refuse(task, reason, for: 0)
            }
            let refusals = try await stores.audited(AuditFilter(action: .channelRefused))
            #expect(refusals.map(\.apns?.reason) == ["TopicDisallowed", "BadRequestParams"])
        }
    }
}

/// Old entries of the audit log can be deleted only by `prune_audit_log`, which adds an entry about it.
@Suite(.timeLimit(.minutes(20)))
struct AuditHistoryTests {
    private static let day = 86_400.0

    @Test func `old entries are removed in steps, and the log says how many and from which time`() async throws {
        try await withStores { stores in
            let now = Date()
            let history = stores.history
            try await Self.write(
                stores, [450, 440.5, 440, 401.5, 40, 0].map { now.addingTimeInterval(-$0 * Self.day) })
            let cutoff = now.addingTimeInterval(-400 * Self.day)
            #expect(try await history.prune("audit entries", before: cutoff, limit: 2) == 2)
            #expect(try await history.prune("audit entries", before: cutoff, limit: 2) == 2)
            #expect(try await history.prune("audit entries", before: cutoff, limit: 2) == 0)
            let entries = try await stores.audited()
            #expect(entries.filter { $0.action == .eventCreated }.count == 2)
            let told = entries.filter { $0.action == .auditPruned }
            #expect(told.count == 2)
            #expect(told.allSatisfy { $0.actor == "grandstand" && $0.reason?.hasPrefix("2 entries from ") == true })
        }
    }

    @Test func `entries younger than 30 days cannot be removed`() async throws {
        try await withStores { stores in
            let history = stores.history
            try await Self.write(stores, [Date().addingTimeInterval(-100 * Self.day)])
            await #expect(throws: PostgresError.self) {
                try await history.prune("audit entries", before: Date().addingTimeInterval(-20 * Self.day), limit: 10)
            }
            // After `prune_audit_log` has returned, another statement in its transaction cannot remove entries either.
            await #expect(throws: PostgresError.self) {
                try await stores.pool.withConnection { connection in
                    do {
                        try await connection.script(
                            """
                            begin;
                            select prune_audit_log(now() - interval '400 days', 10, now());
                            delete from audit_log;
                            commit;
                            """)
                    } catch {
                        try await connection.script("rollback")
                        throw error
                    }
                }
            }
            #expect(try await stores.rows("audit_log") == 1)
        }
    }

    private static func write(_ stores: StoreWorld, _ times: [Date]) async throws {
        for time in times {
            try await stores.pool.query(
                "insert into audit_log (at, actor, action) values (\(time), 'key:desk', 'event.created')")
        }
    }
}

/// The actor of a broadcast.
@Suite(.timeLimit(.minutes(20)))
struct AttributionTests {
    private static let desk = AuditActor.key(id: UUID(), name: "desk")
    private static let night = AuditActor.key(id: UUID(), name: "night shift")

    private func accept(
        _ stores: StoreWorld, _ request: Contract.BroadcastDraft, for target: BroadcastTarget,
        by actor: AuditActor = Self.desk
    ) async throws -> Contract.Broadcast {
        try #require(try await stores.accept([Intake(target, request: request, by: actor)]).first).get()
    }

    @Test func `the entry of a channel without an event names the channel`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            let channel = try await stores.record(.created(channelID: "abc=="), of: stores.reserve())
            let broadcast = try await accept(stores, .update(), for: .channel(channel.id))
            _ = try await stores.outbox.cancel(broadcast.uuid, within: .all, by: Self.night, now: stores.now)
            let found = try await stores.audited(AuditFilter(bundleID: .sample())).filter {
                $0.broadcast == broadcast.id
            }
            #expect(found.map(\.action) == [.broadcastWithdrawn, .broadcastAccepted])
            #expect(found.allSatisfy { $0.channel == channel.id.text && $0.eventKey == nil })
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
            for id in [one.uuid, both.uuid] {
                #expect(try await stores.outbox.cancel(id, within: .all, by: Self.night, now: stores.now) == true)
            }
            func told(_ app: String) async throws -> [String?] {
                try await stores.audited(AuditFilter(actor: "key:night shift", bundleID: .sample(app)))
                    .map(\.broadcast)
            }
            #expect(try await told("com.example.Goal") == [both.id])
            #expect(try await told("com.example.Other") == [both.id, one.id])
            #expect(try await stores.audited(AuditFilter(action: .broadcastAccepted)).count == 3)
        }
    }

    @Test func `an event's entries are found by its key, for those who reach it, and without its updates`()
        async throws
    {
        try await withStores { stores in
            let key = try await stores.open()
            let other = try await stores.open("other", audiences: [.sample("com.example.Other")])
            for target in [key, other] { _ = try await accept(stores, .update(), for: .event(target)) }
            _ = try await accept(
                stores, Contract.BroadcastDraft(event: .end), for: .event(key), by: Self.night)
            // The server closes events without an app in the entry.
            try await stores.pool.query(
                """
                insert into audit_log (at, actor, action, event_key)
                values (\(stores.now), 'grandstand', 'event.expired', \(key.rawValue))
                """)
            let own = AppReach.only([try .sample()])
            let all = try await stores.audited(AuditFilter(event: key, reach: own))
            #expect(all.map(\.action).prefix(3) == [.eventExpired, .broadcastAccepted, .broadcastAccepted])
            #expect(all[1].actor == "key:night shift" && all.allSatisfy { $0.eventKey == key.rawValue })
            let changes = try await stores.audited(AuditFilter(event: key, omitsUpdates: true, reach: own))
            #expect(changes.count == all.count - 1)
            for reach in [
                AppReach.only([try .sample("com.example.Other")]), AppReach(of: nil, eventKeyPrefix: other),
                AppReach(of: [try .sample()], eventKeyPrefix: other),
            ] {
                #expect(try await stores.audited(AuditFilter(event: key, reach: reach)).isEmpty)
            }
        }
    }

    @Test func `an event's entries are found by each of its apps, including a removed one`() async throws {
        try await withStores { stores in
            let other = try Audience.sample("com.example.Other")
            let key = try await stores.put(.sample(audiences: [.sample(), other])).eventKey
            try await stores.put(.sample(audiences: [.sample()]))
            try await stores.events.cancel(key, by: Self.desk, now: stores.now)
            func told(_ app: String) async throws -> [Contract.AuditAction] {
                try await stores.audited(AuditFilter(bundleID: .sample(app))).map(\.action).filter {
                    [.eventCreated, .eventChanged, .eventCancelled].contains($0)
                }
            }
            #expect(try await told("com.example.Goal") == [.eventCancelled, .eventChanged, .eventCreated])
            #expect(try await told("com.example.Other") == [.eventChanged, .eventCreated])
        }
    }
}
