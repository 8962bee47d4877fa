internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

struct LaneTests {
    @Test func `an end for some audiences closes only these, and the event is over with the last`() async throws {
        try await withTwoApps { stores, audiences in
            let key = try EventKey.sample()
            try await stores.accept(.end(audiences: [audiences[0].id]))
            #expect(try await stores.event(key)?.state == .scheduled)
            let rest = try await stores.accept(.update())
            #expect(rest.deliveries.map(\.bundleId) == ["com.example.B"])
            try await refuses(.eventEnded) { try await stores.accept(.update(audiences: [audiences[0].id])) }
            try await stores.accept(.end())
            #expect(try await stores.event(key)?.state == .ended)
            for request: BroadcastRequest in [.update(), .end(), .update(sendAt: stores.now + 60)] {
                try await refuses(.eventEnded) { try await stores.accept(request) }
            }
        }
    }

    @Test func `a locked lane is skipped, and the others are settled`() async throws {
        try await withStores { stores in
            try await stores.open(["match-1", "match-2"])
            var accepted: [Contract.Broadcast] = []
            for n in 1...2 { accepted.append(try await stores.accept(.update(), for: "match-\(n)")) }
            let claimed = try await stores.claim().sorted { ($0.message.id ?? 0) < ($1.message.id ?? 0) }
            let settlements = zip(claimed, [Verdict.ok, .rejected(.badRequest)]).map {
                $0.settled($1, at: stores.now)
            }
            let lanes = claimed.map(\.lane)
            try await stores.pool.transaction { connection in
                try await connection.query("select from audiences where lane = \(lanes[0]) for update")
                #expect(try await stores.outbox.record(settlements) == [lanes[0]])
                let unsent = claimed[0].settled(nil, at: stores.now)
                #expect(try await stores.outbox.record([unsent]) == [lanes[0]])
                try await stores.extendLeases(of: lanes, until: stores.now + 60)
                #expect(try await accepted.asyncMap { try await stores.state(of: $0) } == [.sending, .rejected])
            }
            // The lease of the lane has ended. The replica does not claim the lane again while the replica reports the
            // lane as held.
            stores.clock.advance(by: 10)
            #expect(try await stores.claim(held: [lanes[0]]).isEmpty)
            #expect(try await stores.outbox.record(settlements) == [])
            #expect(try await stores.state(of: accepted[0]) == .accepted)
            #expect(try await stores.delivery(of: accepted[0]).attempts == 1)
        }
    }
}

@Suite(.timeLimit(.minutes(20)))
struct OutboxRaceTests {
    @Test func `concurrent claims never get the same lane, and together get all`() async throws {
        try await withStores { stores in
            let lanes = 20
            try await stores.open((1...lanes).map { "match-\($0)" })
            for round in 1...20 {
                for n in 1...lanes { try await stores.accept(.update(#"{"n":\#(round)}"#), for: "match-\(n)") }
                var claimed = try await concurrently(4) { _ in try await stores.claim(by: UUID(), limit: 8) }.flatMap(
                    \.self)
                // Rows that another claim has locked are skipped. The next claim finds them.
                claimed += try await stores.claim(by: UUID(), limit: lanes)
                #expect(Set(claimed.map(\.lane)).count == claimed.count)
                #expect(claimed.count == lanes)
                stores.clock.advance(by: 5)
            }
        }
    }

    @Test func `concurrent acceptances and settlements on one lane lose nothing`() async throws {
        try await withEvent { stores in
            try await stores.accept(.update(#"{"n":0}"#))
            for n in 1...60 {
                let claimed = try #require(try await stores.claim().first, "round \(n): the lane was forgotten")
                let verdict: Verdict = n.isMultiple(of: 3) ? .retry(at: stores.now, reason: "x") : .ok
                async let accepted = stores.accept(.update(#"{"n":\#(n)}"#, alert: n.isMultiple(of: 5) ? "{}" : nil))
                async let settled: Void = stores.settle(claimed, verdict)
                _ = try await (accepted, settled)
                #expect(try await stores.deliveriesNeverDue() == 0)
            }
            while let claimed = try await stores.claim().first { try await stores.settle(claimed, .ok) }
            #expect(try await stores.rows("deliveries where settled_at is null") == 0)
            let newest: PostgresQuery = "deliveries where state = 'accepted' and id = (select max(id) from deliveries)"
            #expect(try await stores.rows(newest) == 1)
        }
    }

    @Test func `concurrent acceptances, connections, claims and cancellations end in consistent states`() async throws {
        try await withStores { stores in
            let keys = (1...12).map { "match-\($0)" }
            for key in keys { try await stores.put(.sample(key)) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for key in keys {
                    group.addTask {
                        for n in 1...5 { try await stores.accept(.update(#"{"n":\#(n)}"#), for: key) }
                        if key.hasSuffix("3") {
                            try await stores.cancel(key)
                        } else {
                            try await stores.accept(.end(), for: key)
                        }
                    }
                }
                group.addTask { try await stores.provision() }
                for _ in 1...2 {
                    group.addTask {
                        let replica = UUID()
                        for _ in 1...20 {
                            for claimed in try await stores.claim(by: replica, limit: 4) {
                                try await stores.settle(claimed, .ok, by: replica)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await stores.provision()
            #expect(try await stores.deliveriesNeverDue() == 0)
            while case let claimed = try await stores.claim(), !claimed.isEmpty {
                for delivery in claimed { try await stores.settle(delivery, .ok) }
            }
            #expect(try await stores.rows("deliveries where settled_at is null") == 0)
            #expect(try await stores.rows("deliveries where is_end and state = 'accepted'") == 11)
            let disorder = try await stores.count(
                """
                select count(*) as n from deliveries a join deliveries b on a.lane = b.lane and a.id < b.id
                where a.state = 'accepted' and b.state = 'accepted' and a.apns_timestamp >= b.apns_timestamp
                """)
            #expect(disorder == 0)
        }
    }
}
