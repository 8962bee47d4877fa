internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Logging
internal import Postgres
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// The dispatcher with a gateway that the test observes. WorkLoopTests test its claims, its stop and its failures.
@Suite(.timeLimit(.minutes(20)))
struct DispatcherTests {
    /// The dispatcher's outbox, with events of which each has one message that is due.
    private struct Scene {
        let stores: StoreWorld
        let signals = WakeUps.byHand

        /// Opens events and accepts a message for each. `channel(of:)` of the event is what the gateway sees.
        func add(_ keys: [String], of app: String = "com.example.Goal") async throws {
            try await stores.open(keys, of: app)
            for key in keys { try await stores.accept(.update(), for: key) }
        }

        /// Runs a dispatcher during `body`, and returns when it has stopped.
        func run(
            _ gateway: ScriptedGateway, concurrency: Int = 20, lease: TimeInterval = 3_600,
            drain: Drain = Drain(.seconds(3_600)), pollInterval: Duration = .seconds(3_600),
            rates: SendRates = LoopSample.rates(),
            logger: Logger = LoopSample.logger, while body: () async throws -> Void
        ) async throws {
            let dispatcher = Dispatcher(
                outbox: stores.outbox, gateway: gateway, rates: rates,
                concurrency: concurrency, laneInterval: 0,
                worker: LoopSample.worker(
                    lease: lease, drain: drain, pollInterval: pollInterval, signals: signals,
                    now: { [clock = stores.clock] in clock.now }, logger: logger))
            try await running(dispatcher.run, while: body)
        }

        func wait(for count: Int, _ state: Contract.DeliveryState) async throws {
            try await until("\(count) deliveries are \(state)") {
                try await stores.rows("deliveries where state = \(state.rawValue)::delivery_state") == count
            }
        }
    }

    private static func with(_ body: (Scene) async throws -> Void) async throws {
        try await withStores { try await body(Scene(stores: $0)) }
    }

    @Test func `an app that is throttled is claimed only as its rate allows`() async throws {
        try await Self.with { scene in
            try await scene.add((1...6).map { "match-\($0)" })
            let other = "com.example.Other"
            let gateway = ScriptedGateway {
                $0.address.bundleID.rawValue == other ? .ok : .refusing(.tooManyRequests)
            }
            let rates = LoopSample.rates()
            for attempts in 1...2 {
                try await scene.run(gateway, rates: rates) {
                    try await until("all were refused") {
                        try await scene.stores.rows("deliveries where attempts = \(attempts) and state = 'queued'") == 6
                    }
                }
                // All messages of the app are refused for more than two seconds, so the limit applies to the app and not
                // to a channel.
                if attempts == 1 { scene.stores.clock.advance(by: 2.1) }
            }
            try await scene.add(["match-7"])
            try await scene.add(["other"], of: other)
            try await scene.run(gateway, rates: rates) { try await scene.wait(for: 1, .accepted) }
            #expect(try await scene.stores.rows("deliveries where attempts = 0") == 1)
        }
    }

    /// Otherwise its alert could ring a second time, with newer content and a new timestamp.
    @Test func `a request that a stop cuts off counts as one that APNs may have processed`() async throws {
        try await Self.with { scene in
            try await scene.add(["match-1"])
            let (never, hold) = AsyncStream.makeStream(of: Void.self)
            let gateway = ScriptedGateway { _ in
                for await _ in never {}
                return .unanswered("the call was cancelled")
            }
            try await scene.run(gateway, drain: Drain(.milliseconds(1))) { try await scene.wait(for: 1, .sending) }
            withExtendedLifetime(hold) {}
            #expect(
                try await scene.stores.rows("deliveries where state = 'queued' and attempts = 1 and refusals = 0") == 1)
        }
    }

    @Test func `without an app's key its messages are given back, and the app is not claimed any more`() async throws {
        try await Self.with { scene in
            try await scene.add(["match-1"])
            let log = LogLines()
            let asked = Mutex(0)
            let keys = KeylessApps(fault: { "there is no key file of \($0)" }, logger: log.logger)
            let gateway = ScriptedGateway { _ in
                asked.withLock { $0 += 1 }
                return .withheld("there is no key file")
            }
            try await scene.run(gateway, rates: LoopSample.rates(keys: keys), logger: log.logger) {
                try await until("the message was given back") {
                    let released = try await scene.stores.rows("deliveries where state = 'queued' and attempts = 0")
                    return released == 1 && asked.withLock { $0 } == 1
                }
                // As a message that is given back does.
                scene.signals.wake()
                try await scene.add(["other"], of: "com.example.Other")
                scene.signals.wake()
                try await until("the other app was asked") { asked.withLock { $0 } == 2 }
            }
            #expect(asked.withLock { $0 } == 2)
            #expect(Set(log.all).count == log.all.count)
        }
    }

    @Test func `each claim is settled once, with few at a time, and an app's outage is logged twice`() async throws {
        try await Self.with { scene in
            let other = "com.example.Other"
            try await scene.add((1...4).map { "match-\($0)" })
            try await scene.add(["other"], of: other)
            let (log, valve) = (LogLines(), Valve())
            let isWell = Atomic(false)
            let gateway = ScriptedGateway { message in
                await valve.pass()
                if message.address.bundleID.rawValue == other { return .refusing(.badPriority) }
                return isWell.load(ordering: .relaxed) ? .ok : .refusing(.internalServerError)
            }
            try await scene.run(gateway, concurrency: 2, logger: log.logger) {
                await valve.hold(2)
                valve.open()
                try await until("all were refused") {
                    try await scene.stores.rows("deliveries where attempts = 1 and state = 'queued'") == 4
                }
                try await scene.wait(for: 1, .rejected)
                isWell.store(true, ordering: .relaxed)
                scene.stores.clock.advance(by: 60)
                scene.signals.wake()
                try await scene.wait(for: 4, .accepted)
            }
            #expect(valve.most == 2)
            #expect(try await scene.stores.rows("deliveries where attempts = 2") == 4)
            let lines = ["warning broadcast will be sent again", "notice APNs accepts broadcasts of the app again"]
            #expect(Set(log.all) == Set(lines + ["error broadcast refused by APNs"]) && log.all.count == 3)
        }
    }

    @Test func `a locked lane delays no other, keeps its lease and is settled when it is unlocked`() async throws {
        try await Self.with { scene in
            try await scene.add(["match-1", "match-2"])
            let valve = Valve()
            try await scene.run(.held(by: valve), lease: 0.003, pollInterval: .milliseconds(5)) {
                await valve.hold(2)
                try await scene.stores.pool.transaction { connection in
                    try await connection.query(
                        """
                        select from audiences where event_key = 'match-1'
                        for no key update
                        """)
                    valve.open()
                    try await scene.wait(for: 1, .accepted)
                    scene.stores.clock.advance(by: 1)
                    try await scene.wait(for: 1, .sending)
                }
                try await scene.wait(for: 2, .accepted)
            }
            #expect(try await scene.stores.rows("deliveries where attempts <> 1") == 0)
        }
    }

    @Test func `a host whose circuit is open gets only probes, and all messages when it works again`() async throws {
        try await Self.with { scene in
            let count = Circuit.threshold + 10
            try await scene.add((1...count).map { "match-\($0)" })
            let isWell = Atomic(false)
            let asked = Mutex(0)
            let gateway = ScriptedGateway { [clock = scene.stores.clock] _ in
                asked.withLock { $0 += 1 }
                clock.advance(by: 0.1)
                return isWell.load(ordering: .relaxed) ? .ok : .refusing(.serviceUnavailable)
            }
            try await scene.run(gateway, concurrency: 5, pollInterval: .milliseconds(5)) {
                try await until("the circuit opens") { asked.withLock { $0 } >= Circuit.threshold }
                isWell.store(true, ordering: .relaxed)
                try await until("all are accepted") {
                    scene.stores.clock.advance(by: 1)
                    return try await scene.stores.rows("deliveries where state = 'accepted'") == count
                }
            }
            #expect(asked.withLock { $0 } <= count + Circuit.threshold + 2 * 5)
        }
    }

    @Test(arguments: [(1_700_000_000, 60), (0, 0), (1_699_999_999, -1)])
    func `a message that waited beyond its time, or beyond its expiration, is not sent`(
        _ expiration: Int, _ seconds: TimeInterval
    ) {
        let message = LaneMessage(
            broadcast: UUID(), apnsExpiration: expiration, expiresAt: LoopSample.now.addingTimeInterval(seconds),
            requestID: UUID())
        #expect(message.isExpired(at: LoopSample.now))
    }
}
