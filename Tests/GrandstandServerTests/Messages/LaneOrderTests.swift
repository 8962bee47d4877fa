internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// Everything that needs several lanes locks them in the order of their IDs. Each test locks the lowest lane, waits
/// until the work waits for it, and then locks all others. If the work had locked one of the others before the lowest
/// lane, this would be a deadlock.
@Suite(.timeLimit(.minutes(20)))
struct LaneOrderTests {
    /// Audiences whose lanes have ascending IDs in this order. There are so many that a `Set` of them almost never has
    /// the same order.
    private static func audiences() throws -> [Audience] {
        try (1...6).flatMap { n in
            try APNsEnvironment.allCases.map { try .sample("com.example.Goal\(n)", $0) }
        }
    }

    private func stepping(_ stores: StoreWorld, _ work: @escaping @Sendable () async throws -> Void) async throws {
        let pool = stores.pool
        try await pool.transaction { connection in
            let lanes: [Int] = try await connection.query("select lane from audiences order by lane").map {
                try $0.decode("lane")
            }
            try #require(lanes.count > 1)
            try await connection.query("select from audiences where lane = \(lanes[0]) for no key update")
            async let working: Void = work()
            try await stores.untilSomebodyWaits()
            try await connection.query(LaneRows.lock("\(lanes)"))
            // The commit releases the locks, so that the work continues.
            try await connection.script("commit; begin")
            try await working
        }
    }

    @Test func `audiences can be removed and return while their messages are settled`() async throws {
        try await withStores { stores in
            let audiences = try Self.audiences()
            try await stores.open(audiences: audiences)
            let (first, last) = (Array(audiences.prefix(6)), Array(audiences.suffix(6)))
            for rest in [last, first.reversed(), last.reversed()] {
                try await stepping(stores) { try await stores.put(.sample(audiences: rest)) }
            }
            #expect(try await stores.rows("audiences where closed_at is null") == 6)
        }
    }

    @Test func `broadcasts for an event and for a channel without one can share a transaction`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(at: stores.now))
            let channel = try await stores.adopt()
            @Sendable func alone() -> Intake { Intake(.channel(channel.id), request: .update()) }
            _ = try await stores.accept([alone()])
            let key = try await stores.open()
            try await stepping(stores) {
                let results = try await stores.accept([Intake(eventKey: key, request: .update()), alone()])
                #expect(results.count { (try? $0.get()) != nil } == 2)
            }
        }
    }

    @Test func `a reconciliation can mark channels as missing while their messages are settled`() async throws {
        try await withStores { stores in
            for n in 1...12 { try await stores.open("match-\(n)") }
            let run = try await stores.beginReconciliation()
            let plan = try await stores.observe([], run)
            try await stepping(stores) {
                let done = try await stores.apply(plan.entries.shuffled().map { .init(.markMissing, $0) }, run).done
                #expect(done == Array(repeating: true, count: 12))
            }
        }
    }

    @Test func `overdue events can be closed while their messages are settled`() async throws {
        try await withStores { stores in
            try await stores.put(
                .sample(endsAt: stores.now + 3_600, audiences: Self.audiences().reversed()))
            stores.clock.advance(by: 14 * 3_600)
            try await stepping(stores) { try await stores.align() }
            #expect(try await stores.rows("audiences where fenced_at is null") == 0)
        }
    }

    // MARK: Lanes before channels

    // If Apple does not know a channel, the settlement may have to record this in the channel's row. The settlement has
    // locked the lane before it writes that row.

    enum Writer: CaseIterable {
        case deletion, acceptance, withdrawal
    }

    @Test(arguments: Writer.allCases)
    func `a transaction that waits for a lane holds no lock on its channel`(_ writer: Writer) async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample())
            let channel = try await stores.adopt()
            @Sendable func accept() async throws -> Contract.Broadcast {
                try await stores.accept([Intake(.channel(channel.id), request: .update())])[0].get()
            }
            let broadcast = try await accept()
            if writer == .deletion { try await stores.forceDeletion(of: channel) }
            let writing = try await stores.pool.transaction { connection in
                try await connection.query("select from audiences for no key update")
                let writing = Task {
                    switch writer {
                    case .deletion: _ = try await stores.deleted(channel)
                    case .acceptance: _ = try await accept()
                    case .withdrawal: _ = try await stores.withdraw(broadcast)
                    }
                }
                try await stores.untilSomebodyWaits()
                // With `nowait` the statement fails at once if another transaction holds the lock. Waiting for the lock
                // would be the deadlock.
                try await connection.query(
                    "select from channels where id = \(channel.id) for no key update nowait")
                return writing
            }
            try await writing.value
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
                #expect(Set(claimed.map(\.lane)).count == lanes && claimed.count == lanes)
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
            for key in keys { try await stores.put(.sample(), as: key) }
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
