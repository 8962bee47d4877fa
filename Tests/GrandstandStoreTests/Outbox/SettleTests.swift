internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

struct SettleTests {
    @Test func `a retry waits for its time and repeats every byte as a further attempt`() async throws {
        try await withStores { stores in
            try await stores.open()
            let accepted = try await stores.accept(.update())
            let first = try #require(try await stores.claim().first)
            let at = stores.now.addingTimeInterval(30)
            try await stores.settle(first, .retry(at: at, reason: "ServiceUnavailable"))
            let waiting = try await stores.delivery(of: accepted)
            #expect(waiting.state == .queued)
            #expect(waiting.nextAttemptAt == at)
            #expect(waiting.reason == "ServiceUnavailable")
            #expect(try await stores.outbox.nextDue(in: .production) == at)

            stores.clock.advance(by: 29)
            #expect(try await stores.claim().isEmpty)
            stores.clock.advance(by: 1)
            let second = try #require(try await stores.claim().first)
            #expect(second.message == first.message)
            #expect(second.id == first.id)
            #expect(second.attempts == 2)
            try await stores.settle(second, .ok)
            #expect(try await stores.delivery(of: accepted).attempts == 2)
        }
    }

    @Test func `a retry is given up when newer state waits or comes later`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            let first = try await stores.accept(.update(#"{"n":1}"#))
            let claimed = try #require(try await stores.claim().first)
            let second = try await stores.accept(.update(#"{"n":2}"#))
            try await stores.settle(claimed, .retry(at: stores.now.addingTimeInterval(10), reason: "x"))
            #expect(try await stores.state(of: first) == .superseded)
            let next = try #require(try await stores.claim().first)
            #expect(next.text.contains(#"{"n":2}"#))

            try await stores.settle(next, .retry(at: stores.now.addingTimeInterval(10), reason: "x"))
            try await stores.accept(.update(#"{"n":3}"#))
            #expect(try await stores.state(of: second) == .superseded)
            #expect(try await stores.delivery(of: second).nextAttemptAt == nil)
            let last = try await stores.sendOne()
            #expect(last.text.contains(#"{"n":3}"#))
            #expect(try last.timestamp > next.timestamp)
        }
    }

    @Test func `a permanent refusal or a missed deadline settles the delivery and frees the lane`() async throws {
        try await withStores { stores in
            try await stores.open()
            let refused = try await stores.accept(.update())
            try await stores.settle(try #require(try await stores.claim().first), .rejected(.badRequest))
            #expect(try await stores.state(of: refused) == .rejected)
            #expect(try await stores.delivery(of: refused).reason == "BadPriority")

            let late = try await stores.accept(.update())
            try await stores.settle(try #require(try await stores.claim().first), .expired(reason: "no answer"))
            #expect(try await stores.state(of: late) == .expired)
            #expect(try await stores.delivery(of: late).reason == "no answer")

            try await stores.accept(.update())
            try await stores.sendOne()
        }
    }

    @Test func `a message past its deadline is expired and not sent`() async throws {
        try await withStores { stores in
            try await stores.open()
            let short = try await stores.accept(.update(#"{"n":1}"#, alert: "{}", expiresIn: 10))
            let long = try await stores.accept(.update(#"{"n":2}"#, expiresIn: 20))
            stores.clock.advance(by: 10)
            #expect(try await stores.sendOne().text.contains(#"{"n":2}"#))
            #expect(try await stores.state(of: short) == .expired)
            #expect(try await stores.delivery(of: short).settledAt == stores.now)
            #expect(try await stores.delivery(of: short).attempts == 0)
            #expect(try await stores.state(of: long) == .accepted)
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
                    of: lanes, replica: stores.replica, until: stores.now.addingTimeInterval(60))
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
            let at = stores.now.addingTimeInterval(1)
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
