internal import FoundationEssentials
internal import Grandstand
internal import Testing

struct SendRateTests {
    private let start = Date(timeIntervalSinceReferenceDate: 1_000)

    private func after(_ seconds: TimeInterval) -> Date { start.addingTimeInterval(seconds) }

    /// A rate after this many accepted requests in the second before `start`, and a 429 at `start`.
    private func throttled(after accepted: Int, retryAfter: Int? = nil) -> SendRate {
        var rate = SendRate()
        for number in 0..<accepted {
            let time = after(Double(number) / Double(accepted) * 0.9 - 0.9)
            rate.accepted(sentAt: time, at: time)
        }
        rate.throttled(retryAfter: retryAfter, sentAt: after(-0.1), at: start)
        return rate
    }

    @Test func `before the first 429 there is no limit`() {
        var rate = SendRate()
        for number in 0..<10_000 { rate.accepted(sentAt: start, at: after(Double(number) / 1_000)) }
        #expect(rate.allowance(at: after(10)) == nil)
        #expect(rate.nextToken(at: after(10)) == nil)
        #expect(rate.perSecond == nil)
    }

    @Test func `idle time saves up almost nothing`() {
        let rate = throttled(after: 100)
        #expect(rate.allowance(at: start) == 0)
        #expect((1...11).contains(rate.allowance(at: after(60)) ?? .max))
    }

    @Test func `nothing is sent before Retry-After has passed`() {
        let rate = throttled(after: 100, retryAfter: 7)
        #expect(rate.allowance(at: after(6.99)) == 0)
        #expect(rate.nextToken(at: after(1)).map { $0 >= after(7) } ?? false)
        #expect(rate.allowance(at: after(7.1)).map { $0 > 0 } ?? false)
    }

    @Test func `a rate that is not used does not grow`() throws {
        var rate = throttled(after: 100)
        rate.accepted(sentAt: after(1.5), at: after(1.6))
        rate.throttled(sentAt: after(2), at: after(2.1))
        let before = try #require(rate.perSecond)
        for time in stride(from: 5, to: 120, by: 3.0) {
            #expect(rate.allowance(at: after(time)).map { $0 > 0 } ?? false)
            rate.spend(1, at: after(time))
            rate.accepted(sentAt: after(time), at: after(time + 0.02))
        }
        #expect(try #require(rate.perSecond) < max(2, before * 1.5))
    }

    @Test func `requests beyond the rate are made up for and do not raise it`() throws {
        var rate = SendRate()
        rate.throttled(sentAt: start, at: start)
        rate.spend(60, at: after(0.01))
        // At half a request per second, 60 requests take 120 s.
        #expect(rate.allowance(at: after(115)) == 0)
        #expect(rate.allowance(at: after(130)).map { $0 > 0 } ?? false)
        rate.spend(1, at: after(130))
        #expect(try #require(rate.perSecond) < 20)
    }

    @Test func `a limit is forgotten five minutes after the last 429`() {
        var rate = throttled(after: 100)
        rate.throttled(sentAt: after(60), at: after(60.1))
        rate.forget(at: after(360))
        #expect(rate.isLimited)
        rate.forget(at: after(360.1))
        #expect(!rate.isLimited)
        #expect(rate.allowance(at: after(361)) == nil)
    }

    static let kinds: [@Sendable (Double) -> Limiter] = [
        { Limiter(.bucket(depth: $0 / 4), rate: $0) },
        { Limiter(.bucket(depth: $0), rate: $0) },
        { Limiter(.counter, rate: $0) },
        { Limiter(.sliding, rate: $0) },
    ]

    @Test(arguments: [20.0, 200, 2_000], [1, 3])
    func `after ten seconds at most 4 % of the answers are 429, and 90 % of the limit is used`(
        _ limit: Double, _ replicas: Int
    ) async {
        // The simulation of 2,000 requests a second takes long, so only some kinds are tested.
        for (number, kind) in Self.kinds.enumerated() where limit < 1_000 || number % 2 == 0 {
            let duration = limit > 1_000 ? 30 : limit > 100 ? 100 : 300
            let world = await RateWorld.played { RateWorld(kind(limit), replicas: replicas, duration: duration) }
            #expect(world.refused(10..<duration) <= 0.04, "kind \(number)")
            #expect(world.used(10..<duration) >= 0.9, "kind \(number)")
        }
    }

    @Test(arguments: [20.0, 200], [1, 3])
    func `with Retry-After, too, few answers are 429 and 85 % of the limit is used`(
        _ limit: Double, _ replicas: Int
    ) async {
        for (number, kind) in Self.kinds.enumerated() {
            let duration = limit > 100 ? 200 : 300
            let world = await RateWorld.played {
                RateWorld(kind(limit), replicas: replicas, retryAfter: 1, duration: duration)
            }
            #expect(world.refused(10..<duration) <= 0.04, "kind \(number)")
            #expect(world.used(10..<duration) >= 0.85, "kind \(number)")
        }
    }

    /// A bucket this small refuses requests of different replicas that come at the same moment by chance.
    @Test(arguments: [1, 3])
    func `a limit without room for bursts is used, too`(_ replicas: Int) async {
        let world = await RateWorld.played {
            RateWorld(Limiter(.bucket(depth: 2), rate: 20), replicas: replicas, duration: 300)
        }
        #expect(world.refused(10..<300) <= 0.05)
        #expect(world.used(10..<300) >= (replicas == 1 ? 0.9 : 0.8))
    }

    @Test(arguments: [1, 3])
    func `a lower limit is respected at once, and a higher one is found`(_ replicas: Int) async {
        let world = await RateWorld.played {
            RateWorld(
                Limiter(.bucket(depth: 50), rate: 200), replicas: replicas, duration: 300, changes: [100: 20, 200: 200])
        }
        #expect(world.refused(110..<200) <= 0.04)
        #expect(world.used(110..<200) >= 0.9)
        #expect(world.refused(201..<300) <= 0.04)
        #expect(world.used(230..<300) >= 0.85)
    }

    /// The third replica joins after 100 s; the second leaves after 200 s.
    @Test(arguments: [20.0, 200])
    func `a replica that joins gets a share, and the others take over the share of one that leaves`(
        _ limit: Double
    ) async {
        for (number, kind) in Self.kinds.enumerated() {
            let world = await RateWorld.played {
                RateWorld(
                    kind(limit), replicas: 3, present: [0..<300, 0..<200, 100..<300], duration: 300,
                    underWay: limit > 100 ? 200 : 30)
            }
            #expect(world.refused(10..<300) <= 0.05, "kind \(number)")
            #expect(world.used(10..<300) >= 0.85, "kind \(number)")
            // At 20 requests a second, shares become equal only slowly.
            let shares = limit > 100 ? 0.15...0.6 : 0.03...0.8
            #expect(shares.contains(world.share(of: 2, 130..<200)), "kind \(number)")
            #expect(world.used(230..<300) >= 0.85, "kind \(number)")
        }
    }

    @Test(arguments: [20.0, 200])
    func `a process that is late still uses the limit`(_ limit: Double) async {
        let world = await RateWorld.played {
            RateWorld(Limiter(.bucket(depth: limit / 4), rate: limit), replicas: 1, duration: 120, lateness: 0.15)
        }
        #expect(world.refused(10..<120) <= 0.04)
        #expect(world.used(10..<120) >= 0.9)
    }
}
