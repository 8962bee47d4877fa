internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

struct WithdrawalTests {
    @Test func `a broadcast that was not sent can be withdrawn, also twice`() async throws {
        try await withStores { stores in
            try await stores.open()
            let accepted = try await stores.accept(.update())
            for _ in 1...2 { #expect(try await stores.outbox.cancel(accepted.id, now: stores.now) == true) }
            #expect(try await stores.state(of: accepted) == .cancelled)
            #expect(try await stores.outbox.broadcast(accepted.id)?.state == .cancelled)
            #expect(try await stores.outbox.nextDue(in: .production) == nil)
            #expect(try await stores.claim().isEmpty)
        }
    }

    @Test func `a withdrawn broadcast names the first key that withdrew it, also if it was scheduled`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            let owner = AuditActor.key(id: UUID(), name: "owner")
            let waiting = try await stores.accept(.update())
            let scheduled = try await stores.accept(.update(sendAt: stores.now.addingTimeInterval(60)))
            #expect(try await stores.outbox.broadcast(waiting.id)?.withdrawnBy == nil)
            for broadcast in [waiting, scheduled] {
                for actor in [owner, .commandLine] {
                    #expect(
                        try await stores.outbox.cancel(broadcast.id, within: .all, by: actor, now: stores.now) == true)
                }
                let read = try await stores.outbox.broadcast(broadcast.id)
                #expect(read?.withdrawnBy == "key:owner")
                #expect(read?.by == "grandstand")
            }
        }
    }

    @Test func `a broadcast in flight, tried, sent or given back cannot be withdrawn, and an unknown one is not found`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            let tried = try await stores.accept(.update(alert: "{}"))
            let claimed = try #require(try await stores.claim().first)
            #expect(try await stores.outbox.cancel(tried.id, now: stores.now) == false)
            try await stores.settle(claimed, .retry(at: stores.now, reason: "x"))
            #expect(try await stores.outbox.cancel(tried.id, now: stores.now) == false)
            try await stores.sendOne()
            #expect(try await stores.outbox.cancel(tried.id, now: stores.now) == false)
            let end = try await stores.accept(.end())
            // A message that was given back when the replica stopped may have been sent already.
            try await stores.outbox.release(try await stores.claim(), replica: stores.replica, now: stores.now)
            #expect(try await stores.outbox.cancel(end.id, now: stores.now) == false)
            #expect(try await stores.outbox.cancel(UUID(), now: stores.now) == nil)
        }
    }

    @Test
    func
        `a message that APNs always refused was not sent, so a throttled end can be withdrawn`()
        async throws
    {
        try await withStores { stores in
            let key = try await stores.open()
            let update = try await stores.accept(.update())
            let tried = try #require(try await stores.claim().first)
            try await stores.settle(tried, .retry(at: stores.now, reason: "no answer"))
            let end = try await stores.accept(.end())
            let refused = try #require(try await stores.claim().first)
            #expect(refused.id != tried.id)
            try await stores.outbox.settle(
                [
                    Settlement(
                        delivery: refused.id, lane: refused.lane,
                        verdict: .retry(at: stores.now.addingTimeInterval(30), reason: "TooManyRequests"),
                        at: stores.now,
                        mayBeProcessed: false)
                ], replica: stores.replica, now: stores.now)
            #expect(try await stores.state(of: update) == .superseded)
            #expect(try await stores.outbox.cancel(end.id, now: stores.now) == true)
            #expect(try await stores.events.event(key, now: stores.now)?.state == .live)
            // The update is a different message now, because its timestamp must be higher than that of the end.
            let again = try await stores.sendOne()
            #expect(again.id == tried.id && again.message.requestID != tried.message.requestID)
            #expect(try again.timestamp > refused.timestamp)
        }
    }

    @Test func `a broadcast sent to one audience cannot be withdrawn from the other`() async throws {
        try await withStores { stores in
            let audiences = [try Audience.sample("com.example.A"), try Audience.sample("com.example.B")]
            try await stores.open(audiences: audiences)
            let accepted = try await stores.accept(.update())
            let claimed = try #require(try await stores.claim(limit: 1).first)
            try await stores.settle(claimed, .ok)
            #expect(try await stores.outbox.cancel(accepted.id, now: stores.now) == false)
            #expect(try await stores.claim().count == 1)
        }
    }

    @Test func `a message in flight when its event is cancelled is settled, and not repeated`() async throws {
        try await withStores { stores in
            let key = try await stores.open()
            let accepted = try await stores.accept(.update())
            let claimed = try #require(try await stores.claim().first)
            try await stores.events.cancel(key, now: stores.now)
            #expect(try await stores.state(of: accepted) == .sending)
            #expect(try await stores.deliveriesNeverDue() == 0)
            try await stores.settle(claimed, .retry(at: stores.now, reason: "x"))
            #expect(try await stores.state(of: accepted) == .cancelled)
            #expect(try await stores.claim().isEmpty)
            #expect(try await stores.outbox.nextDue(in: .production) == nil)
        }
    }

    @Test func `a message given back after its event was cancelled is cancelled`() async throws {
        try await withStores { stores in
            let key = try await stores.open()
            let accepted = try await stores.accept(.update())
            let claimed = try await stores.claim()
            try await stores.events.cancel(key, now: stores.now)
            try await stores.outbox.release(claimed, replica: stores.replica, now: stores.now)
            #expect(try await stores.state(of: accepted) == .cancelled)
            #expect(try await stores.outbox.nextDue(in: .production) == nil)
        }
    }
}
