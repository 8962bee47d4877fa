internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// Single pushes that are refused or withdrawn.
@Suite(.timeLimit(.minutes(1)))
struct PushWithdrawalTests {
    private static let lanes: PostgresQuery = "select count(*) as n from lanes"
    private static let long = #"{"s":"\#(String(repeating: "x", count: 5_000))"}"#

    @Test func `a refused push leaves no token behind`() async throws {
        try await withStores { stores in
            #expect(
                try await problem { try await stores.push(.update(Self.long)) } == .payloadTooLarge)
            #expect(try await stores.count(Self.lanes) == 0)
            // Two pushes in one call: the first is accepted, the second is refused.
            let intakes = try ["80aa", "80bb"].map { hex in
                BroadcastIntake(
                    .token(try .sample(hex)),
                    request: (hex == "80aa" ? BroadcastRequest.update() : .update(Self.long)).asPush)
            }
            let results = try await stores.outbox.accept(intakes, now: stores.now, plan: Stores.plan)
            #expect(results.map { (try? $0.get()) != nil } == [true, false])
            #expect(try await stores.count(Self.lanes) == 1)
            // A token that is known stays when a push to it is refused. A token with only a scheduled push stays as
            // well.
            #expect(
                try await problem { try await stores.push(.update(Self.long), to: .sample("80aa")) }
                    == .payloadTooLarge)
            try await stores.push(.update(sendAt: stores.now.addingTimeInterval(60)), to: .sample("80cc"))
            #expect(try await stores.count(Self.lanes) == 2)
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
            #expect(
                try await stores.count(
                    """
                    select count(*) as n from audit_log where action = 'push.withdrawn'
                        and bundle_id = 'com.example.Goal' and broadcast is not null
                    """) == 2)
        }
    }

    @Test func `a scheduled push can be withdrawn within reach, and a broadcast is not a push`() async throws {
        try await withStores { stores in
            let push = try await stores.push(.start(sendAt: stores.now.addingTimeInterval(60)))
            let theirs = AppReach.only([try .sample("com.example.Other")])
            #expect(try await stores.outbox.cancelPush(push.id, within: theirs, now: stores.now) == nil)
            #expect(try await stores.outbox.cancelPush(push.id, now: stores.now) == true)
            stores.clock.advance(by: 60)
            #expect(try await stores.outbox.promote(now: stores.now, limit: 10, plan: Stores.plan) == 0)
            #expect(try await stores.outbox.broadcast(push.id)?.state == .cancelled)
            #expect(
                try await stores.count(
                    """
                    select count(*) as n from audit_log where action = 'push.withdrawn'
                        and bundle_id = 'com.example.Goal'
                    """) == 1)
            try await stores.open()
            let broadcast = try await stores.accept(.update())
            #expect(try await stores.outbox.cancelPush(broadcast.id, now: stores.now) == nil)
            #expect(try await stores.outbox.cancelPush(UUID(), now: stores.now) == nil)
        }
    }
}
