internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

struct LaneTests {
    @Test func `an end for some audiences closes only these, and the event is over with the last`() async throws {
        try await withStores { stores in
            let audiences = [try Audience.sample("com.example.A"), try Audience.sample("com.example.B")]
            let key = try await stores.open(audiences: audiences)
            try await stores.accept(.end(audiences: [audiences[0].id]))
            #expect(try await stores.events.event(key, now: stores.now)?.state == .scheduled)
            let rest = try await stores.accept(.update())
            #expect(rest.deliveries.map(\.bundleID.rawValue) == ["com.example.B"])
            try await refuses(.eventEnded) { try await stores.accept(.update(audiences: [audiences[0].id])) }
            try await stores.accept(.end())
            #expect(try await stores.events.event(key, now: stores.now)?.state == .ended)
            for request: BroadcastRequest in [.update(), .end(), .update(sendAt: stores.now + 60)] {
                try await refuses(.eventEnded) { try await stores.accept(request) }
            }
        }
    }

    @Test func `lanes do not wait for each other, and a claim takes no more than requested`() async throws {
        try await withStores { stores in
            for n in 1...5 { try await stores.put(.sample("match-\(n)")) }
            try await stores.provision()
            for n in 1...5 { try await stores.accept(.update(), for: "match-\(n)") }
            let two = try await stores.claim(limit: 2)
            let rest = try await stores.claim(limit: 100)
            #expect(two.count == 2)
            #expect(rest.count == 3)
            #expect(Set((two + rest).map(\.lane)).count == 5)
        }
    }

    @Test func `when a channel is ready only the newest waiting message is sent`() async throws {
        try await withStores { stores in
            try await stores.put(.sample())
            let first = try await stores.accept(.update(#"{"n":1}"#))
            let second = try await stores.accept(.update(#"{"n":2}"#))
            #expect(first.deliveries.map(\.state) == [.waiting])
            #expect(try await stores.state(of: first) == .superseded)
            #expect(try await stores.claim().isEmpty)

            stores.clock.advance(by: 3)
            try await stores.provision()
            let waiting = try await stores.delivery(of: second)
            #expect(waiting.state == .queued)
            #expect(waiting.channelID == (try await stores.channel()).channelID)
            let sent = try await stores.sendOne()
            #expect(sent.text.contains(#"{"n":2}"#))
            #expect(try sent.timestamp == 1_700_000_003)
        }
    }

    @Test func `after a lease another replica gets the same message with the same bytes, timestamp and request ID`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(.update())
            let first = try #require(try await stores.claim(lease: 5).first)
            stores.clock.advance(by: 4.5)
            #expect(try await stores.claim(by: UUID()).isEmpty)
            #expect(try await stores.outbox.nextDue() == stores.now + 0.5)
            stores.clock.advance(by: 0.5)
            let second = try #require(try await stores.claim(by: UUID()).first)
            #expect(second.message == first.message)
            #expect(second.id == first.id)
            #expect(second.attempts == 2)
        }
    }

    @Test func `a locked lane is skipped, and the others are settled`() async throws {
        try await withStores { stores in
            for n in 1...2 { try await stores.put(.sample("match-\(n)")) }
            try await stores.provision()
            var accepted: [Broadcast] = []
            for n in 1...2 { accepted.append(try await stores.accept(.update(), for: "match-\(n)")) }
            let claimed = try await stores.claim().sorted { $0.id < $1.id }
            let settlements = claimed.map {
                Settlement(delivery: $0.id, lane: $0.lane, verdict: .ok, at: stores.now)
            }
            let lanes = claimed.map(\.lane)
            try await stores.pool.transaction { connection in
                try await connection.query("select from lanes where id = \(lanes[0]) for update")
                #expect(
                    try await stores.outbox.settle(settlements, replica: stores.replica, now: stores.now)
                        == [lanes[0]])
                #expect(
                    try await stores.outbox.release([claimed[0]], replica: stores.replica, now: stores.now)
                        == [lanes[0]])
                try await stores.outbox.extendLeases(
                    of: lanes, replica: stores.replica, until: stores.now + 60)
                #expect(try await accepted.asyncMap { try await stores.state(of: $0) } == [.sending, .accepted])
            }
            // The lease of the lane has ended. The replica does not claim the lane again while the replica reports the
            // lane as held.
            stores.clock.advance(by: 10)
            #expect(try await stores.claim(held: [lanes[0]]).isEmpty)
            #expect(try await stores.outbox.settle(settlements, replica: stores.replica, now: stores.now) == [])
            #expect(try await stores.state(of: accepted[0]) == .accepted)
            #expect(try await stores.delivery(of: accepted[0]).attempts == 1)
        }
    }

    @Test func `a batch settles every lane it names`() async throws {
        try await withStores { stores in
            for n in 1...3 { try await stores.put(.sample("match-\(n)")) }
            try await stores.provision()
            var accepted: [Broadcast] = []
            for n in 1...3 { accepted.append(try await stores.accept(.update(#"{"n":\#(n)}"#), for: "match-\(n)")) }
            let claimed = try await stores.claim().sorted { $0.id < $1.id }
            let at = stores.now + 1
            let verdicts: [Verdict] = [.ok, .retry(at: at, reason: "x"), .rejected(.badRequest)]
            try await stores.outbox.settle(
                zip(claimed, verdicts).map { Settlement(delivery: $0.id, lane: $0.lane, verdict: $1, at: stores.now) },
                replica: stores.replica, now: stores.now)
            #expect(
                try await accepted.asyncMap { try await stores.state(of: $0) } == [.accepted, .queued, .rejected])
            try await stores.outbox.settle([], replica: stores.replica, now: stores.now)
        }
    }
}
