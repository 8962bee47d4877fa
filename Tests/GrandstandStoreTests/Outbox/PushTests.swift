internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// Single pushes: each token is a lane of the outbox.
@Suite(.timeLimit(.minutes(20)))
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
            try await stores.push(.start())
            #expect(try await stores.sendOne().text.contains(#""event":"start""#))
            // Another token has its own lane, and so has the same token of another app.
            try await stores.push(.update(), to: .sample("80abcdee"))
            try await stores.push(.update(), to: .sample("80abcdef", "com.example.Other"))
            #expect(try await stores.claim().count == 2)
        }
    }

    @Test func `a start has its own payload members, and is not repeated after its replica died`() async throws {
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

    @Test func `a scheduled push is sent at its time, and is not a broadcast`() async throws {
        try await withStores { stores in
            let push = try await stores.push(.start(sendAt: stores.now + 60))
            #expect(push.isScheduled && push.deliveries.isEmpty)
            let address = try TokenAddress.sample()
            #expect(try await stores.outbox.broadcast(push.id)?.recipient == address)
            #expect(try await stores.withdraw(push) == nil)
            stores.clock.advance(by: 60)
            #expect(try await stores.outbox.promote(now: stores.now, limit: 10, plan: Stores.plan) == 1)
            #expect(try await stores.sendOne().text.contains(#""attributes-type":"M","attributes":{ "a":1}"#))
            #expect(try await stores.outbox.broadcast(push.id)?.state == .done)
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
            let logged: PostgresQuery = "audit_log where action = 'push.accepted' and bundle_id = 'com.example.Goal'"
            #expect(try await stores.rows(logged) == 1)
            try await stores.pool.query(
                "insert into webhook_settlements (broadcast_id) values (\(push.id))")
            try await stores.sendOne()
            _ = try await PostgresWebhookOutbox(database.database).compose(now: stores.now, limit: 10)
            #expect(try await stores.rows("webhook_messages") == 0)
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
            #expect(try await history.prune(.broadcasts, before: stores.now - 1, limit: 10) == 2)
            let tokens = try await stores.pool.query("select encode(token, 'hex') as token from lanes")
            #expect(try tokens.map { try $0.decode(String.self, "token") } == ["80abcdee"])
            // The removed token can get a push again, like a new token.
            try await stores.push(.update())
            #expect(try await stores.claim().count == 1)

            try await stores.apps.delete(.sample())
            for table: PostgresQuery in ["lanes", "broadcasts", "deliveries"] {
                #expect(try await stores.rows(table) == 0)
            }
        }
    }

    // MARK: Refused or withdrawn

    private static let long = #"{"s":"\#(String(repeating: "x", count: 5_000))"}"#

    @Test func `a refused push leaves no token behind`() async throws {
        try await withStores { stores in
            try await refuses(.payloadTooLarge) { try await stores.push(.update(Self.long)) }
            #expect(try await stores.rows("lanes") == 0)
            // Two pushes in one call: the first is accepted, the second is refused.
            let intakes = try ["80aa", "80bb"].map { hex in
                BroadcastIntake(
                    .token(try .sample(hex)),
                    request: (hex == "80aa" ? BroadcastRequest.update() : .update(Self.long)).asPush)
            }
            let results = try await stores.outbox.accept(intakes, now: stores.now, plan: Stores.plan)
            #expect(results.map { (try? $0.get()) != nil } == [true, false])
            #expect(try await stores.rows("lanes") == 1)
            // A token that is known stays when a push to it is refused. A token with only a scheduled push stays as
            // well.
            try await refuses(.payloadTooLarge) { try await stores.push(.update(Self.long), to: .sample("80aa")) }
            try await stores.push(.update(sendAt: stores.now + 60), to: .sample("80cc"))
            #expect(try await stores.rows("lanes") == 2)
            #expect(try await stores.sendOne().text.contains("1-0"))
        }
    }

    @Test func `a push that was not sent can be withdrawn, and the one before is sent after all`() async throws {
        try await withStores { stores in
            let pushes = try await stores.push([.update(#"{"n":1}"#), .update(#"{"n":2}"#)])
            #expect(try await stores.state(of: pushes[0]) == .superseded)
            for _ in 1...2 { #expect(try await stores.outbox.cancelPush(pushes[1].id, now: stores.now) == true) }
            #expect(try await stores.outbox.broadcast(pushes[1].id)?.state == .cancelled)
            #expect(try await stores.sendOne().text.contains(#"{"n":1}"#))
            #expect(try await stores.outbox.cancelPush(pushes[0].id, now: stores.now) == false)
            let end = try await stores.push(.end())
            #expect(try await stores.outbox.cancelPush(end.id, now: stores.now) == true)
            // The token takes updates again.
            try await stores.push(.update(#"{"n":3}"#))
            stores.clock.advance(by: 1)
            #expect(try await stores.sendOne().text.contains(#"{"n":3}"#))
            #expect(try await stores.deliveriesNeverDue() == 0)
            let logged: PostgresQuery = "audit_log where action = 'push.withdrawn' and bundle_id = 'com.example.Goal'"
            #expect(try await stores.rows(logged) == 2)
        }
    }
}
