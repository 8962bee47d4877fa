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
            pollInterval: Duration = .seconds(3_600), keys: KeyWatch? = nil, logger: Logger = LoopSample.logger,
            while body: () async throws -> Void
        ) async throws {
            var settings = Dispatcher.Settings(
                concurrency: concurrency, laneInterval: 0, lease: lease, drain: Drain(.seconds(3_600)))
            settings.pollInterval = pollInterval
            let dispatcher = Dispatcher(
                environment: .production, outbox: stores.outbox, gateway: gateway, rates: LoopSample.rates(),
                keys: keys,
                signals: signals, settings: settings, now: { [clock = stores.clock] in clock.now }, logger: logger)
            let running = Task { await dispatcher.run() }
            defer { running.cancel() }
            try await body()
            running.cancel()
            await running.value
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

    @Test func `every claim is sent and settled once, with at most the allowed number at a time`() async throws {
        try await Self.with { scene in
            try await scene.add((1...12).map { "match-\($0)" })
            let refused = try await scene.stores.channel(of: "match-7").channelID
            let valve = Valve()
            let gateway = ScriptedGateway { message in
                await valve.pass()
                return message.message.channelID == refused
                    ? .refusing(.badPriority) : .accepted((), APNsReceipt(requestID: nil, uniqueID: "u"))
            }
            try await scene.run(gateway, concurrency: 5) {
                await valve.hold(5)
                valve.open()
                try await scene.wait(for: 11, .accepted)
                try await scene.wait(for: 1, .rejected)
            }
            #expect(try await scene.stores.rows("deliveries where attempts <> 1") == 0)
            #expect(valve.most == 5)
        }
    }

    @Test func `an app that is throttled is claimed only as its rate allows`() async throws {
        try await Self.with { scene in
            try await scene.add((1...6).map { "match-\($0)" })
            let other = "com.example.Other"
            let gateway = ScriptedGateway {
                $0.address.bundleID.rawValue == other ? .ok : .refusing(.tooManyRequests)
            }
            try await scene.run(gateway) {
                try await until("all were refused") {
                    try await scene.stores.rows("deliveries where attempts = 1 and state = 'queued'") == 6
                }
                // All messages of the app are refused for more than two seconds, so the limit applies to the app and not
                // to a channel.
                scene.stores.clock.advance(by: 2.1)
                try await scene.add(["match-7"])
                scene.signals.wake()
                try await until("the limit is known") {
                    try await scene.stores.rows("deliveries where attempts > 0 and state = 'queued'") == 7
                }
                try await scene.add(["match-8"])
                try await scene.add(["other"], of: other)
                scene.signals.wake()
                try await scene.wait(for: 1, .accepted)
                #expect(try await scene.stores.rows("deliveries where attempts = 0") == 1)
            }
        }
    }

    @Test func `messages of an app whose key is missing are given back, and the app is not claimed any more`()
        async throws
    {
        try await Self.with { scene in
            try await scene.add(["match-1"])
            let log = LogLines()
            let asked = Mutex(0)
            let keys = KeyWatch(fault: { "there is no key file of \($0)" }, logger: log.logger)
            let gateway = ScriptedGateway { _ in
                asked.withLock { $0 += 1 }
                return .withheld("there is no key file")
            }
            try await scene.run(gateway, keys: keys, logger: log.logger) {
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

    @Test func `an app that gets only errors is logged when that begins and when it ends`() async throws {
        try await Self.with { scene in
            try await scene.add((1...4).map { "match-\($0)" })
            let log = LogLines()
            let isWell = Atomic(false)
            let gateway = ScriptedGateway { _ in
                isWell.load(ordering: .relaxed) ? .ok : .refusing(.internalServerError)
            }
            try await scene.run(gateway, concurrency: 1, logger: log.logger) {
                try await until("all were refused") {
                    try await scene.stores.rows("deliveries where attempts = 1 and state = 'queued'") == 4
                }
                isWell.store(true, ordering: .relaxed)
                scene.stores.clock.advance(by: 60)
                scene.signals.wake()
                try await scene.wait(for: 4, .accepted)
            }
            #expect(
                log.all == ["warning broadcast will be sent again", "notice APNs accepts broadcasts of the app again"])
        }
    }

    @Test func `a locked lane delays no other, keeps its lease and is settled when it is unlocked`() async throws {
        try await Self.with { scene in
            try await scene.add(["match-1", "match-2"])
            let valve = Valve()
            try await scene.run(.held(by: valve), lease: 0.03, pollInterval: .milliseconds(5)) {
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
