internal import APNsSimulator
internal import APNsWire
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// Whatever is killed in mid-flight: the newest state that was accepted arrives, and no channel's timestamp goes back.
///
/// The gate (`.ci/run`) kills a few times. `GRANDSTAND_KILLS=100` is the long run, and `GRANDSTAND_KILLS_SEED` repeats
/// the choices of a run.
@Suite(.timeLimit(.minutes(20)))
struct KillTests {
    private static let kills = Drill.number("GRANDSTAND_KILLS") ?? 5
    private static let seed = Drill.seed("GRANDSTAND_KILLS_SEED")
    private static let events = 300

    @Test func `the newest states of 300 events arrive although two replicas are killed again and again`() async throws
    {
        print("kills: \(Self.kills), GRANDSTAND_KILLS_SEED=\(Self.seed)")
        try await Stadium.with(events: Self.events) { stadium, simulator in
            try await AppleConsole.with(simulator, .production) { console in
                print("kills: \(try await Self.kill(stadium, simulator, ForeignSystem(console)))")
            }
        }
    }

    @Test func `a message that a killed replica was sending is sent unchanged by another within ten seconds`()
        async throws
    {
        try await Stage.place { environment, simulator in
            let secret = try await Stage.secret(environment)
            let first = try await ChildProcess.server(environment)
            let api = HTTPCaller(url: first.url, secret: secret)
            try await Stage.putApp(api)
            let audience = Stage.audience(.production, .mostRecentMessageStored)
            _ = try await api("PUT", "/v1/events/derby", #"{"name": "Derby", "audiences": [\#(audience)]}"#)
            _ = try await until("the event has its channel") {
                simulator.channels(of: Stage.bundleID, in: .production).isEmpty ? nil : true
            }
            let hold = try simulator.hold(#""operation": "broadcast""#)
            let body = #"{"event": "update", "contentState": {"n": 1}, "alert": {"title": "Goal"}}"#
            let answer = try await api("POST", "/v1/events/derby/broadcasts", body)
            #expect(answer.status == 202)
            let lost = try #require(await simulator.awaitRequests(1) { $0.request.isBroadcast }.first)
            let second = try await ChildProcess.server(environment)
            let killed = ContinuousClock.now
            await first.kill()
            simulator.removeFault(hold)
            let again = try await simulator.awaitRequests(2) { $0.request.isBroadcast }[1]
            #expect(killed.duration(to: .now) < .seconds(10))
            #expect(again.request.body == lost.request.body)
            #expect(again.request[header: "apns-request-id"] == lost.request[header: "apns-request-id"])
            await second.kill()
        }
    }

    private static func kill(
        _ stadium: Stadium, _ simulator: Simulator, _ foreigner: ForeignSystem
    ) async throws -> String {
        async let first: Void = foreigner.turn()
        try await stadium.open()
        await first
        let opened = try await stadium.channels()
        // APNs refuses some broadcasts to channels that exist, as if the channels did not exist.
        try simulator.addFaults(
            """
            {"faults": [{"match": {"operation": "broadcast", "rate": 0.003}, "action": "refuse",
                "reason": "ChannelNotRegistered"}]}
            """)
        var random = SplitMix(seed: seed)
        var tally: [Stadium.Kill: Int] = [:]
        var calls = KillCalls(events: events)
        var record = KillRecord()
        for round in 1...kills {
            let kill = Stadium.Kill.any(&random)
            let (victim, moment) = (random.next(below: 2), random.next(below: events))
            tally[kill, default: 0] += 1
            await withTaskGroup(of: KillCalls.Call?.self) { group in
                for event in 0..<events {
                    // The other system gets a turn for every eighth event only, so it works much less often than the
                    // server. Its turns are spread over the whole round.
                    if event % 8 == round % 8 {
                        group.addTask {
                            await foreigner.turn()
                            return nil
                        }
                    }
                    if event == moment {
                        group.addTask {
                            await stadium.perform(kill, on: victim)
                            return nil
                        }
                        group.addTask {
                            await stadium.declareNewcomers(round: round)
                            return nil
                        }
                    }
                    if event >= 16, let call = await group.next() ?? nil { calls.note(call) }
                    group.addTask { await stadium.update(event, round: round) }
                }
                for await case let call? in group { calls.note(call) }
            }
            try await stadium.revive()
            record.read(simulator)
        }
        try await stadium.settleNewcomers(rounds: kills)

        let goals = Set(
            (0..<events).filter(Stadium.isFed).flatMap { match in
                (1...kills / 2).map { "\(match): \($0)" }
            })
        // APNs may have the newest state while the message of an earlier goal is still being repeated.
        _ = try? await until("all has arrived and rung") {
            record.read(simulator)
            return calls.areMet(by: record.arrivals) && record.rings.count >= goals.count ? true : nil
        }
        #expect(calls.areMet(by: record.arrivals), "a newest state is missing")
        #expect(record.arrivals.backwards() == [])
        #expect(!record.arrivals.contains { calls.withdrawn[$0.match].contains($0.number) }, "withdrawn, and sent")
        #expect(goals.subtracting(record.rings.keys) == [], "goals that did not ring")
        // If APNs' answer was missing, the same message is sent again with the same timestamp: this is no second ring.
        #expect(record.rings.filter { $0.value.count > 1 } == [:], "goals that rang twice")
        try await expectChannels(stadium, simulator, foreigner, opened)
        return "\(Drill.text(tally)); \(calls.accepted) updates accepted, \(calls.unanswered) unanswered, "
            + "\(calls.withdrawals) withdrawn, \(record.arrivals.count) sent; "
            + "\(record.rings.count) goals of fed matches rang"
    }

    /// Every event still has its first channel. No other event has that channel, Apple has it, and the other system
    /// keeps its own channels.
    private static func expectChannels(
        _ stadium: Stadium, _ simulator: Simulator, _ foreigner: ForeignSystem, _ opened: [String: String]
    ) async throws {
        let channels = try await until("every event has a channel") {
            let channels = try await stadium.channels()
            return channels.count == events + 3 * kills ? channels : nil
        }
        let atApple = Set(simulator.channels(of: Stage.bundleID, in: .production).map(\.id))
        #expect(channels.filter { opened[$0.key] != nil } == opened)
        #expect(Set(channels.values).count == channels.count)
        #expect(atApple.isSuperset(of: channels.values))
        #expect(await foreigner.made.isDisjoint(with: channels.values))
        #expect(atApple.isSuperset(of: await foreigner.kept))
    }
}

/// All that the simulator accepted. Its journal forgets the first rounds of a long run.
private struct KillRecord {
    private var last = 0
    /// The marked messages, in order.
    private(set) var arrivals: [Arrival] = []
    /// The timestamps with which each goal of a match with a feed rang.
    private(set) var rings: [String: Set<Int>] = [:]

    mutating func read(_ simulator: Simulator) {
        for entry in simulator.journal() where entry.number > last {
            last = entry.number
            guard let arrival = Arrival(entry) else { continue }
            arrivals.append(arrival)
            if let goal = arrival.alert { rings["\(arrival.match): \(goal)", default: []].insert(arrival.timestamp) }
        }
    }
}

/// While PostgreSQL is frozen, killed or cut off, every call is answered within five seconds. Once PostgreSQL is back,
/// every loop of the server goes on within ten seconds, wherever the loop was interrupted.
///
/// The gate (`.ci/run`) interrupts PostgreSQL a few times. `GRANDSTAND_FREEZES=200` is the long run, and
/// `GRANDSTAND_FREEZES_SEED` repeats the choices of a run.
@Suite(.timeLimit(.minutes(60)))
struct FreezeTests {
    private static let freezes = Drill.number("GRANDSTAND_FREEZES") ?? 4
    private static let seed = Drill.seed("GRANDSTAND_FREEZES_SEED")
    /// The worlds run in parallel, because a round mostly waits. Half of the worlds connect over TCP, half over the
    /// socket.
    private static let worlds = freezes < 20 ? 2 : 4

    @Test(arguments: 0..<worlds)
    func `while PostgreSQL freezes or is killed calls are answered, and every loop continues`(
        _ world: Int
    ) async throws {
        let tcpPort = world.isMultiple(of: 2) ? nil : Int.random(in: 15_000...30_000)
        let place = "freezes, world \(world) over \(tcpPort == nil ? "the socket" : "TCP")"
        print("\(place): \(Self.freezes / Self.worlds), GRANDSTAND_FREEZES_SEED=\(Self.seed)")
        try await FreezeWorld.with(tcpPort: tcpPort) { place in
            var random = SplitMix(seed: Self.seed &+ UInt64(world))
            var tally: [FreezeWorld.Fault: Int] = [:]
            for round in 1...max(1, Self.freezes / Self.worlds) {
                // Even a short run has a freeze, but no long freeze. A long run reaches every step.
                let drawn = FreezeWorld.Fault.any(&random)
                let fault = round == 1 ? .freeze : Self.freezes < 20 && drawn == .longFreeze ? .kill : drawn
                let steps = FreezeStep.all
                let turn = random.next(below: 4) > 0
                let step = turn ? steps[(round * Self.worlds + world + random.next(below: 3)) % steps.count] : nil
                let milliseconds =
                    switch fault {
                    case .blink: 500 + random.next(below: 3_000)
                    case .longFreeze: 33_000 + random.next(below: 5_000)
                    default: 5_000 + random.next(below: 5_000)
                    }
                tally[fault, default: 0] += 1
                try await place.round(round, fault, at: step, for: .milliseconds(milliseconds))
            }
            try await place.expectNoDoubles()
            print("freezes, world \(world): \(Drill.text(tally)); \(place.report)")
        }
    }
}

/// The point in a loop's work at which PostgreSQL is stopped: a statement on a table, or the commit of a transaction
/// that changed the table.
struct FreezeStep: Hashable, CustomStringConvertible {
    let table: String
    let isCommit: Bool

    var description: String { isCommit ? "\(table) at commit" : table }

    /// Two steps for every table that a loop writes to: the statement and the commit. Loops write, for example, claims,
    /// verdicts, leases, the alignment of channels with events, and journals.
    static let all: [FreezeStep] =
        [
            "channels", "events", "audiences", "deliveries", "broadcasts", "app_environments", "unmanaged_channels",
            "reconciliations", "webhook_messages",
            "start_runs", "starts", "lookup_journal", "api_keys", "audit_log", "installations",
            "activities",
        ].flatMap { [FreezeStep(table: $0, isCommit: false), FreezeStep(table: $0, isCommit: true)] }

    /// The key of the advisory lock that a transaction takes, in shared mode, at this step.
    private var key: Int { 7_000 + 2 * (Self.all.firstIndex(of: self) ?? 0) }

    /// Creates the triggers that make transactions wait at a step.
    static func install(on pool: PostgresPool) async throws {
        // Each script is a transaction of its own. A transaction that locks two tables could deadlock with the server,
        // which may lock them in the opposite order.
        var scripts = [
            """
            create function step() returns trigger language plpgsql as
            $$ begin perform pg_advisory_xact_lock_shared(tg_argv[0]::bigint); return null; end $$
            """
        ]
        for step in all {
            scripts.append(
                step.isCommit
                    ? """
                    create constraint trigger step_commit after insert or update or delete on \(step.table)
                        deferrable initially deferred for each row execute function step(\(step.key))
                    """
                    : """
                    create trigger step before insert or update or delete on \(step.table)
                        for each statement execute function step(\(step.key))
                    """)
        }
        for script in scripts { try await pool.withConnection { try await $0.script(script) } }
    }

    /// Lets no transaction pass the step until the session of `connection` ends or `open` is called with `connection`.
    func close(on connection: PostgresConnection) async throws {
        try await connection.query("select pg_advisory_lock(\(key))")
    }

    func open(on connection: PostgresConnection) async throws {
        try await connection.query("select pg_advisory_unlock(\(key))")
    }

    /// Whether a transaction waits at the step.
    func isReached(on connection: PostgresConnection) async throws -> Bool {
        try await !connection.query(
            """
            select from pg_locks where locktype = 'advisory' and not granted and classid = 0 and objid = \(key)::oid
            """
        ).isEmpty
    }
}
