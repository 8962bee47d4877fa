internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// Single pushes: each token is a lane of the outbox.
@Suite(.timeLimit(.minutes(1)))
struct PushTests {
    @Test func `a push is sent to its token, the newest wins, and timestamps rise`() async throws {
        try await withStores { stores in
            let pushes = try await stores.push([.update(#"{"n":1}"#), .update(#"{"n":2}"#)])
            let address = try TokenAddress.sample()
            #expect(pushes.map(\.recipient) == [address, address])
            #expect(try await stores.state(of: pushes[0]) == .superseded)
            let first = try await stores.sendOne()
            guard case .push(let push, isStart: false) = first.message else {
                Issue.record("\(first.message)")
                return
            }
            #expect(push.token == address.token && first.text.contains(#"{"n":2}"#))
            #expect(push.expiration == Int(stores.now.timeIntervalSince1970) + 28_800)
            try await stores.push(.end())
            let end = try await stores.sendOne()
            let (earlier, later) = (try first.timestamp, try end.timestamp)
            #expect(end.lane == first.lane && later > earlier)
            let late = try await problem { try await stores.push(.update()) }
            #expect(late == .eventEnded)
            // Another token has its own lane, and so has the same token of another app.
            try await stores.push(.update(), to: .sample("80abcdee"))
            try await stores.push(.update(), to: .sample("80abcdef", "com.example.Other"))
            #expect(try await stores.claim().count == 2)
        }
    }

    @Test func `a push is repeated unchanged, and an invalid token rejects it finally`() async throws {
        try await withStores { stores in
            let push = try await stores.push(.update())
            let first = try #require(try await stores.claim().first)
            try await stores.settle(first, .retry(at: stores.now.addingTimeInterval(1), reason: "timeout"))
            #expect(try await stores.claim().isEmpty)
            stores.clock.advance(by: 1)
            let second = try #require(try await stores.claim().first)
            #expect(second.message == first.message && second.attempts == 2)
            let verdict = Verdict(
                .refused(APNsRefusal(status: 410, reason: .unregistered)), of: second.message.subject, attempts: 2,
                expiresAt: second.expiresAt, now: stores.now, jitter: 0)
            try await stores.settle(second, verdict)
            let delivery = try await stores.delivery(of: push)
            #expect(delivery.state == .rejected && delivery.reason == "Unregistered")
            #expect(try await stores.deliveriesNeverDue() == 0)
        }
    }

    @Test func `a start has its own payload members, and is not repeated after its replica died`()
        async throws
    {
        try await withStores { stores in
            let starts = try await stores.push([.start(#"{"n":1}"#), .start(#"{"n":2}"#)])
            let first = try #require(try await stores.claim(lease: 5).first)
            guard case .push(_, isStart: true) = first.message else {
                Issue.record("\(first.message)")
                return
            }
            for part in [
                #""event":"start","attributes-type":"M","attributes":{ "a":1},"content-state":{"n":1},"alert":"#,
                #","input-push-channel":"abc==""#,
            ] { #expect(first.text.contains(part), "\(first.text)") }
            stores.clock.advance(by: 6)
            let second = try #require(try await stores.claim(by: UUID()).first)
            #expect(second.text.contains(#"{"n":2}"#))
            let lost = try await stores.delivery(of: starts[0])
            #expect(lost.state == .unknown && lost.reason == Lane.unheard && lost.attempts == 1)
            // The late result of the first push changes nothing.
            try await stores.settle(first, .ok)
            #expect(try await stores.state(of: starts[0]) == .unknown)
        }
    }

    @Test func `a start is sent after an end of another activity`() async throws {
        try await withStores { stores in
            try await stores.push(.end())
            try await stores.sendOne()
            try await stores.push(.start())
            #expect(try await stores.sendOne().text.contains(#""event":"start""#))
        }
    }

    @Test func `a scheduled push is sent at its time, and is not a broadcast`() async throws {
        try await withStores { stores in
            let push = try await stores.push(.start(sendAt: stores.now.addingTimeInterval(60)))
            #expect(push.isScheduled && push.deliveries.isEmpty)
            let address = try TokenAddress.sample()
            #expect(try await stores.outbox.broadcast(push.id)?.recipient == address)
            #expect(try await stores.outbox.cancel(push.id, now: stores.now) == nil)
            stores.clock.advance(by: 60)
            #expect(try await stores.outbox.promote(now: stores.now, limit: 10, plan: Stores.plan) == 1)
            #expect(try await stores.sendOne().text.contains(#""attributes-type":"M","attributes":{ "a":1}"#))
            #expect(try await stores.outbox.broadcast(push.id)?.state == .done)
        }
    }

    @Test func `a push is handed over for sending as soon as it is committed`() async throws {
        try await withDatabase { database in
            let stores = Stores(database)
            _ = try await stores.apps.put(.sample(at: stores.now))
            let directSends = ManualDirectSends(places: 10, clock: stores.clock)
            let outbox = PostgresOutbox(database.database, directSends: directSends)
            _ = try await outbox.accept(
                [BroadcastIntake(.token(.sample()), request: .start())], now: stores.now, plan: Stores.plan)
            let sent = directSends.take()
            #expect(sent.map(\.message.subject) == [.start])
            try await stores.settle(try #require(sent.first), .ok, by: directSends.replica)
            #expect(try await stores.claim().isEmpty)
        }
    }

    @Test func `a key of another app sees no push, and pushes are in the audit log but not in webhooks`() async throws {
        try await withDatabase { database in
            let stores = Stores(database)
            let push = try await stores.push(.update())
            let theirs = AppReach.only([try .sample("com.example.Other")])
            #expect(try await stores.outbox.broadcast(push.id, within: theirs) == nil)
            let own = AppReach.only([try .sample()])
            #expect(try await stores.outbox.broadcast(push.id, within: own)?.deliveries.count == 1)
            #expect(
                try await stores.count(
                    """
                    select count(*) as n from audit_log where action = 'push.accepted'
                        and bundle_id = 'com.example.Goal' and broadcast = \(push.id)
                    """) == 1)
            try await stores.pool.query(
                "insert into webhook_settlements (broadcast_id) values (\(push.id))")
            try await stores.sendOne()
            _ = try await PostgresWebhookOutbox(database.database).compose(now: stores.now, limit: 10)
            #expect(try await stores.count("select count(*) as n from webhook_messages") == 0)
        }
    }

    @Test func `a token is removed with its last push, and an app's pushes with the app`() async throws {
        try await withDatabase { database in
            let stores = Stores(database)
            let history = PostgresHistory(database.database)
            try await stores.push(.update())
            try await stores.push(.update(), to: .sample("80abcdee"))
            for delivery in try await stores.claim() { try await stores.settle(delivery, .ok) }
            stores.clock.advance(by: 10)
            try await stores.push(.update(), to: .sample("80abcdee"))
            try await stores.sendOne()
            #expect(try await history.prune(.broadcasts, before: stores.now.addingTimeInterval(-1), limit: 10) == 2)
            let tokens = try await stores.pool.query("select encode(token, 'hex') as token from lanes")
            #expect(try tokens.map { try $0.decode(String.self, "token") } == ["80abcdee"])
            // The removed token can get a push again, like a new token.
            try await stores.push(.update())
            #expect(try await stores.claim().count == 1)

            try await stores.apps.delete(.sample())
            let left: [PostgresQuery] = [
                "select count(*) as n from lanes", "select count(*) as n from broadcasts",
                "select count(*) as n from deliveries",
            ]
            for query in left { #expect(try await stores.count(query) == 0) }
        }
    }

    @Test func `an unknown app has no tokens`() async throws {
        try await withStores { stores in
            let results = try await stores.outbox.accept(
                [BroadcastIntake(.token(.sample()), request: .update().asPush)], now: stores.now, plan: Stores.plan)
            #expect(throws: Problem.self) { try results[0].get() }
            #expect(try await stores.count("select count(*) as n from lanes") == 0)
        }
    }
}
