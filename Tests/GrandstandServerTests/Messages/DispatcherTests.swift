internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Logging
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// The dispatcher with an outbox and a gateway that the test observes.
@Suite(.timeLimit(.minutes(20)))
struct DispatcherTests {
    private static func dispatcher(
        _ outbox: ScriptedOutbox, _ gateway: ScriptedGateway, signals: HandSignals = HandSignals(),
        concurrency: Int = 20,
        lease: TimeInterval = 3_600, drain: Duration = .seconds(3_600), pollInterval: Duration = .seconds(3_600),
        keys: KeyWatch? = nil, now: @escaping @Sendable () -> Date = { LoopSample.now },
        logger: Logger = LoopSample.logger
    ) -> Dispatcher {
        var settings = Dispatcher.Settings(concurrency: concurrency, laneInterval: 1, lease: lease, drain: Drain(drain))
        settings.pollInterval = pollInterval
        return Dispatcher(
            environment: .production, outbox: outbox.store,
            sends: Sends(gateway: gateway, now: { LoopSample.now }),
            rates: LoopSample.rates(), keys: keys, signals: signals, settings: settings, now: now, logger: logger)
    }

    /// Runs the dispatcher during `body`, and returns when it has stopped.
    private static func run(_ dispatcher: Dispatcher, while body: () async -> Void) async {
        let running = Task { await dispatcher.run() }
        await body()
        running.cancel()
        await running.value
    }

    @Test func `every claim is sent and settled once, with at most the allowed number at a time`() async {
        let deliveries = (1...500).map { LoopSample.delivery($0) }
        let outbox = ScriptedOutbox(deliveries)
        let valve = Valve()
        let gateway = ScriptedGateway { message in
            await valve.pass()
            return message.channelID == "channel-7"
                ? .refusing(.badPriority) : .accepted((), APNsReceipt(requestID: nil, uniqueID: "u"))
        }
        await Self.run(Self.dispatcher(outbox, gateway)) {
            await valve.hold(20)
            valve.open()
            await outbox.wait { $0.settled.count >= 500 }
        }
        #expect(outbox.record.settled.map(\.delivery).sorted() == Array(1...500))
        let accepted = Verdict.accepted(APNsReceipt(requestID: nil, uniqueID: "u"))
        let refused = Verdict.rejected(LoopSample.refusal(.badPriority))
        #expect(outbox.record.settled.allSatisfy { $0.verdict == ($0.delivery == 7 ? refused : accepted) })
        #expect(outbox.record.released.isEmpty)
        #expect(valve.most == 20)
        #expect(outbox.record.claims.allSatisfy { (1...20).contains($0) })
    }

    @Test func `a signal wakes the dispatcher before its next poll`() async {
        let (outbox, signals) = (ScriptedOutbox([]), HandSignals())
        await Self.run(Self.dispatcher(outbox, ScriptedGateway(), signals: signals)) {
            for id in 1...3 {
                outbox.add([LoopSample.delivery(id)])
                signals.wake()
                await outbox.wait { $0.settled.count >= id }
            }
        }
        #expect(outbox.record.settled.map(\.delivery) == [1, 2, 3])
    }

    @Test func `after a short failure of the database nothing is lost or settled twice`() async {
        let outbox = ScriptedOutbox((1...10).map { LoopSample.delivery($0) }, settlementFailures: 2, claimFailures: 1)
        await Self.run(Self.dispatcher(outbox, ScriptedGateway())) { await outbox.wait { $0.settled.count >= 10 } }
        #expect(outbox.record.settled.map(\.delivery).sorted() == Array(1...10))
    }

    @Test func `requests without an answer at the end of the drain are given back, and later answers are ignored`()
        async
    {
        let outbox = ScriptedOutbox((1...3).map { LoopSample.delivery($0) })
        let valve = Valve()
        let gateway = ScriptedGateway { message in
            if message.channelID != "channel-2" { await valve.pass() }
            return .ok
        }
        let dispatcher = Self.dispatcher(outbox, gateway, drain: .milliseconds(20))
        let running = Task { await dispatcher.run() }
        await valve.hold(2)
        await outbox.wait { $0.settled.count >= 1 }
        running.cancel()
        await outbox.wait { $0.released.count >= 2 }
        valve.open()
        await running.value
        #expect(outbox.record.settled.map(\.delivery) == [2])
        #expect(outbox.record.released.map(\.id).sorted() == [1, 3])
    }

    @Test func `claims name a throttled app with what its rate allows`() async {
        let outbox = ScriptedOutbox((1...6).map { LoopSample.delivery($0) })
        let signals = HandSignals()
        let clock = Mutex(LoopSample.now)
        let gateway = ScriptedGateway { $0.channelID == "channel-9" ? .ok : .refusing(.tooManyRequests) }
        let dispatcher = Self.dispatcher(outbox, gateway, signals: signals, now: { clock.withLock { $0 } })
        await Self.run(dispatcher) {
            await outbox.wait { $0.settled.count >= 6 }
            // All messages of the app are refused for more than two seconds, so the limit applies to the app and not to
            // a channel.
            clock.withLock { $0 += 2.1 }
            outbox.add([LoopSample.delivery(7), LoopSample.delivery(8)])
            signals.wake()
            await outbox.wait { $0.settled.count >= 8 }
            outbox.add([LoopSample.delivery(9, of: LoopSample.plainID)])
            signals.wake()
            await outbox.wait { $0.settled.count >= 9 }
            #expect(outbox.record.limits.map(\.bundleID) == [LoopSample.bundleID])
            #expect(outbox.record.limits.first?.allowance == 0)
        }
    }

    @Test func `messages of an app whose key is missing are given back, and the app is not claimed any more`() async {
        let (outbox, log, signals) = (ScriptedOutbox([LoopSample.delivery(1)]), LogLines(), HandSignals())
        let keys = KeyWatch(fault: { "there is no key file of \($0)" }, logger: log.logger)
        let gateway = ScriptedGateway { _ in .withheld("there is no key file") }
        await Self.run(Self.dispatcher(outbox, gateway, signals: signals, keys: keys, logger: log.logger)) {
            await outbox.wait { $0.released.map(\.id) == [1] }
            // As a message that is given back does.
            signals.wake()
            await outbox.wait { $0.limits.map(\.allowance) == [0] }
        }
        #expect(outbox.record.limits.map(\.bundleID) == [LoopSample.bundleID])
        #expect(outbox.record.settled.isEmpty)
        #expect(log.all.count == 1)
    }

    @Test func `an app that gets only errors is logged when that begins and when it ends`() async {
        let (outbox, log) = (ScriptedOutbox((1...12).map { LoopSample.delivery($0) }), LogLines())
        let gateway = ScriptedGateway {
            Int($0.channelID.dropFirst(8)) ?? 0 > 10 ? .ok : .refusing(.internalServerError)
        }
        await Self.run(Self.dispatcher(outbox, gateway, concurrency: 1, logger: log.logger)) {
            await outbox.wait { $0.settled.count == 12 }
        }
        #expect(
            log.all == ["warning broadcast will be sent again", "notice APNs accepts broadcasts of the app again"])
    }

    @Test func `when APNs refuses one lane repeatedly, the time until which it waits is stored`() async {
        let outbox = ScriptedOutbox((1...2).map { LoopSample.delivery($0, lane: 1) })
        let gateway = ScriptedGateway { _ in .refusing(.tooManyRequests) }
        await Self.run(Self.dispatcher(outbox, gateway, concurrency: 1)) {
            await outbox.wait { $0.settled.count >= 2 }
        }
        #expect(outbox.record.settled.first?.notBefore == nil)
        #expect(outbox.record.settled.last?.notBefore.map { $0 > LoopSample.now } ?? false)
    }

    @Test func `a locked lane delays no other, keeps its lease and is settled when it is unlocked`()
        async
    {
        let outbox = ScriptedOutbox((1...2).map { LoopSample.delivery($0) })
        outbox.lock([1])
        let gateway = ScriptedGateway { _ in .ok }
        await Self.run(Self.dispatcher(outbox, gateway, lease: 0.03, pollInterval: .milliseconds(5))) {
            await outbox.wait { $0.settled.map(\.delivery) == [2] && $0.extended.last == [1] && $0.held == [1] }
            outbox.lock([])
            await outbox.wait { $0.settled.count == 2 }
        }
        #expect(outbox.record.settled.map(\.delivery) == [2, 1])
    }

    @Test func `a host whose circuit is open gets only probes, and all messages when it works again`() async {
        let outbox = ScriptedOutbox((1...100).map { LoopSample.delivery($0) })
        let clock = Mutex(LoopSample.now)
        let isWell = Atomic(false)
        let gateway = ScriptedGateway { _ in
            clock.withLock { $0 += 0.1 }
            return isWell.load(ordering: .relaxed)
                ? .ok : .refusing(.serviceUnavailable)
        }
        let dispatcher = Self.dispatcher(
            outbox, gateway, concurrency: 5, pollInterval: .milliseconds(5), now: { clock.withLock { $0 } })
        await Self.run(dispatcher) {
            await outbox.wait { $0.settled.count >= Circuit.threshold }
            isWell.store(true, ordering: .relaxed)
            clock.withLock { $0 += 10 }
            await outbox.wait { $0.settled.count == 100 }
        }
        let accepted = outbox.record.settled.count { if case .accepted = $0.verdict { true } else { false } }
        #expect(accepted >= 100 - Circuit.threshold - 2 * 5)
    }
}

struct SendsTests {
    @Test(arguments: [(1_700_000_000, 60), (0, 0), (1_699_999_999, -1)])
    func `a message that waited beyond its time, or beyond its expiration, is not sent`(
        _ expiration: Int, _ seconds: TimeInterval
    ) async {
        var delivery = LoopSample.delivery(1)
        delivery.message.expiration = expiration
        delivery.expiresAt = LoopSample.now.addingTimeInterval(seconds)
        let sent = Mutex(0)
        let gateway = ScriptedGateway { _ in
            sent.withLock { $0 += 1 }
            return .accepted((), APNsReceipt(requestID: "r"))
        }
        let answer = await Sends(gateway: gateway, now: { LoopSample.now }).send(delivery)
        #expect(sent.withLock { $0 } == 0)
        #expect("\(answer)".contains("it expired"))
    }
}
