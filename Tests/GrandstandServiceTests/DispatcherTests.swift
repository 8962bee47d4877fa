internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

/// The dispatcher with an outbox and a gateway that the test observes.
@Suite(.timeLimit(.minutes(20)))
struct DispatcherTests {
    private static func dispatcher(
        _ outbox: FakeOutbox, _ gateway: FakeGateway, directSends: LocalDirectSends = LocalDirectSends(),
        signals: HandSignals = HandSignals(), concurrency: Int = 20,
        lease: TimeInterval = 3_600, drain: Duration = .seconds(3_600), pollInterval: Duration = .seconds(3_600),
        now: @escaping @Sendable () -> Date = { Sample.now }
    ) -> Dispatcher {
        var settings = Dispatcher.Settings(concurrency: concurrency, laneInterval: 1, lease: lease, drain: Drain(drain))
        settings.pollInterval = pollInterval
        return Dispatcher(
            environment: .production, outbox: outbox, directSends: directSends,
            sends: Sends(gateway: gateway, now: { Sample.now }),
            rates: Sample.rates(), signals: signals, settings: settings, now: now,
            logger: Sample.logger)
    }

    /// Runs the dispatcher during `body`, and returns when it has stopped.
    private static func run(_ dispatcher: Dispatcher, while body: () async -> Void) async {
        let running = Task { await dispatcher.run() }
        await body()
        running.cancel()
        await running.value
    }

    @Test func `every claim is sent and settled once, with at most the allowed number at a time`() async {
        let deliveries = (1...500).map { Sample.delivery($0) }
        let outbox = FakeOutbox(deliveries)
        let valve = Valve()
        let gateway = FakeGateway { _ in
            await valve.pass()
            return .accepted((), APNsReceipt(requestID: nil, uniqueID: "u"))
        }
        await Self.run(Self.dispatcher(outbox, gateway)) {
            await valve.hold(20)
            valve.open()
            await outbox.wait { $0.settled.count >= 500 }
        }
        #expect(outbox.record.settled.map(\.delivery).sorted() == Array(1...500))
        let accepted = Verdict.accepted(APNsReceipt(requestID: nil, uniqueID: "u"))
        #expect(outbox.record.settled.allSatisfy { $0.verdict == accepted })
        #expect(outbox.record.released.isEmpty)
        #expect(valve.most == 20)
        #expect(outbox.record.claims.allSatisfy { (1...20).contains($0) })
    }

    @Test func `each answer is judged for its own delivery`() async {
        let outbox = FakeOutbox((1...2).map { Sample.delivery($0) })
        let gateway = FakeGateway { $0.channelID == "channel-1" ? .refusing(.badPriority) : .ok }
        await Self.run(Self.dispatcher(outbox, gateway)) { await outbox.wait { $0.settled.count >= 2 } }
        let verdicts = Dictionary(uniqueKeysWithValues: outbox.record.settled.map { ($0.delivery, $0.verdict) })
        let accepted = Verdict.accepted(APNsReceipt(requestID: nil))
        #expect(verdicts == [1: .rejected(Sample.refusal(.badPriority)), 2: accepted])
    }

    @Test func `after a short failure of the database nothing is lost or settled twice`() async {
        let outbox = FakeOutbox((1...10).map { Sample.delivery($0) }, settlementFailures: 2, claimFailures: 1)
        await Self.run(Self.dispatcher(outbox, FakeGateway())) { await outbox.wait { $0.settled.count >= 10 } }
        #expect(outbox.record.settled.map(\.delivery).sorted() == Array(1...10))
    }

    @Test func `requests without an answer at the end of the drain are given back, and later answers are ignored`()
        async
    {
        let outbox = FakeOutbox((1...3).map { Sample.delivery($0) })
        let valve = Valve()
        let gateway = FakeGateway { message in
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

    @Test func `a delivery claimed at its acceptance is sent and settled like others`() async throws {
        let outbox = FakeOutbox([])
        let directSends = LocalDirectSends()
        #expect(directSends.claim(1, in: .production) == nil)
        let dispatcher = Self.dispatcher(outbox, FakeGateway(), directSends: directSends)
        await Self.run(dispatcher) {
            let claim = await directSends.claimOfRunning(3)
            #expect(claim.limit == 3)
            #expect(claim.environment == .production)
            #expect(claim.laneInterval == 1)
            #expect(claim.leasedUntil == Sample.now.addingTimeInterval(3_600))
            #expect(directSends.claim(1, in: .development) == nil)
            directSends.send((1...3).map { Sample.delivery($0) }, in: .production)
            await outbox.wait { $0.settled.count >= 3 }
        }
        #expect(outbox.record.settled.map(\.delivery).sorted() == [1, 2, 3])
        #expect(directSends.claim(1, in: .production) == nil)
    }

    @Test func `many direct sends leave room for claims, and a single one may take the last place`() async {
        let outbox = FakeOutbox([])
        let directSends = LocalDirectSends()
        let valve = Valve()
        let gateway = FakeGateway.held(by: valve)
        await Self.run(Self.dispatcher(outbox, gateway, directSends: directSends, concurrency: 20)) {
            #expect(await directSends.claimOfRunning(100).limit == 15)
            directSends.send((1...15).map { Sample.delivery($0) }, in: .production)
            #expect(directSends.claim(2, in: .production) == nil)
            for id in 16...20 {
                #expect(directSends.claim(1, in: .production)?.limit == 1)
                directSends.send([Sample.delivery(id)], in: .production)
            }
            #expect(directSends.claim(1, in: .production) == nil)
            valve.open()
            await outbox.wait { $0.settled.count >= 20 }
        }
    }

    @Test func `claims and direct sends name a throttled app with what its rate allows`() async {
        let outbox = FakeOutbox((1...6).map { Sample.delivery($0) })
        let (directSends, signals) = (LocalDirectSends(), HandSignals())
        let clock = Mutex(Sample.now)
        let gateway = FakeGateway { $0.channelID == "channel-9" ? .ok : .refusing(.tooManyRequests) }
        let dispatcher = Self.dispatcher(
            outbox, gateway, directSends: directSends, signals: signals, now: { clock.withLock { $0 } })
        await Self.run(dispatcher) {
            await outbox.wait { $0.settled.count >= 6 }
            // All messages of the app are refused for more than two seconds, so the limit applies to the app and not to
            // a channel.
            clock.withLock { $0 += 2.1 }
            outbox.add([Sample.delivery(7), Sample.delivery(8)])
            signals.wake()
            await outbox.wait { $0.settled.count >= 8 }
            outbox.add([Sample.delivery(9, of: Sample.plainID)])
            signals.wake()
            await outbox.wait { $0.settled.count >= 9 }
            for limits in [outbox.record.limits, directSends.claim(1, in: .production)?.limits ?? []] {
                #expect(limits.map(\.bundleID) == [Sample.bundleID])
                #expect(limits.first?.allowance == 0)
            }
        }
    }

    @Test func `when APNs refuses one lane repeatedly, the time until which it waits is stored`() async {
        let outbox = FakeOutbox((1...2).map { Sample.delivery($0, lane: 1) })
        let gateway = FakeGateway { _ in .refusing(.tooManyRequests) }
        await Self.run(Self.dispatcher(outbox, gateway, concurrency: 1)) {
            await outbox.wait { $0.settled.count >= 2 }
        }
        #expect(outbox.record.settled.first?.notBefore == nil)
        #expect(outbox.record.settled.last?.notBefore.map { $0 > Sample.now } ?? false)
    }

    @Test func `a locked lane delays no other, keeps its lease and is settled when it is unlocked`()
        async
    {
        let outbox = FakeOutbox((1...2).map { Sample.delivery($0) })
        outbox.lock([1])
        let gateway = FakeGateway { _ in .ok }
        await Self.run(Self.dispatcher(outbox, gateway, lease: 0.03, pollInterval: .milliseconds(5))) {
            await outbox.wait { $0.settled.map(\.delivery) == [2] && $0.extended.last == [1] && $0.held == [1] }
            outbox.lock([])
            await outbox.wait { $0.settled.count == 2 }
        }
        #expect(outbox.record.settled.map(\.delivery) == [2, 1])
    }

    @Test func `a host whose circuit is open gets only probes, and all messages when it works again`() async {
        let outbox = FakeOutbox((1...100).map { Sample.delivery($0) })
        let clock = Mutex(Sample.now)
        let isWell = Atomic(false)
        let gateway = FakeGateway { _ in
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

extension LocalDirectSends {
    /// Waits until the dispatcher runs, and returns a claim for at most `wanted` lanes.
    fileprivate func claimOfRunning(_ wanted: Int) async -> LaneClaim {
        while true {
            if let claim = claim(wanted, in: .production) { return claim }
            await Task.yield()
        }
    }
}

struct SendsTests {
    @Test(arguments: [(1_700_000_000, 60), (0, 0), (1_699_999_999, -1)])
    func `a message that waited beyond its time, or beyond its expiration, is not sent`(
        _ expiration: Int, _ seconds: TimeInterval
    ) async {
        var delivery = Sample.delivery(1)
        delivery.message.expiration = expiration
        delivery.expiresAt = Sample.now.addingTimeInterval(seconds)
        let sent = Mutex(0)
        let gateway = FakeGateway { _ in
            sent.withLock { $0 += 1 }
            return .accepted((), APNsReceipt(requestID: "r"))
        }
        let answer = await Sends(gateway: gateway, now: { Sample.now }).send(delivery)
        #expect(sent.withLock { $0 } == 0)
        #expect("\(answer)".contains("it expired"))
    }
}
