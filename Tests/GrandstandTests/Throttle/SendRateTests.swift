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
        rate.accepted(sentAt: after(0.5), at: after(0.6))
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

    @Test func `replicas share a limit, and take over the share of one that ended`() throws {
        var one = throttled(after: 100)
        var other = SendRate()
        other.join(rate: try #require(one.perSecond) / 2, since: start, throttledAt: start, at: after(1))
        one.share(0.5, throttledAt: start)
        #expect(try abs(#require(one.perSecond) + #require(other.perSecond) - 95) < 0.1)
        one.share(2, throttledAt: after(3))
        #expect(try abs(#require(one.perSecond) - 95) < 0.1)
        #expect(one.throttledAt == after(3))
    }

    static let kinds: [@Sendable (Double) -> Limiter] = [
        { Limiter(.bucket(depth: max(2, $0 / 20)), rate: $0) },
        { Limiter(.bucket(depth: $0 / 4), rate: $0) },
        { Limiter(.bucket(depth: $0), rate: $0) },
        { Limiter(.counter, rate: $0) },
        { Limiter(.sliding, rate: $0) },
    ]

    @Test(arguments: [20.0, 200, 2_000], [1, 2])
    func `after ten seconds almost no answer is 429, and almost all of the limit is used`(
        _ limit: Double, _ replicas: Int
    ) async {
        // The simulation of 2,000 requests a second takes long, so only some kinds are tested.
        for (number, kind) in Self.kinds.enumerated() where limit < 1_000 || number % 2 == 1 {
            let duration = limit > 1_000 ? 30 : limit > 100 ? 100 : 300
            let world = await RateWorld.played { RateWorld(kind(limit), replicas: replicas, duration: duration) }
            #expect(world.refused(10..<duration) < 0.03, "kind \(number)")
            #expect(world.used(10..<duration) >= 0.9, "kind \(number)")
        }
    }

    @Test(arguments: [20.0, 200], [1, 2])
    func `with Retry-After, too, few answers are 429 and almost all of the limit is used`(
        _ limit: Double, _ replicas: Int
    ) async {
        for (number, kind) in Self.kinds.enumerated() {
            let duration = limit > 100 ? 200 : 300
            let world = await RateWorld.played {
                RateWorld(kind(limit), replicas: replicas, retryAfter: 1, duration: duration)
            }
            #expect(world.refused(10..<duration) < 0.03, "kind \(number)")
            #expect(world.used(10..<duration) >= 0.9, "kind \(number)")
        }
    }

    @Test(arguments: [1, 2])
    func `a lower limit is respected at once, and a higher one is found`(_ replicas: Int) async {
        let world = await RateWorld.played {
            RateWorld(
                Limiter(.bucket(depth: 50), rate: 200), replicas: replicas, duration: 300, changes: [100: 20, 200: 200])
        }
        #expect(world.refused(110..<200) < 0.03)
        #expect(world.used(110..<200) >= 0.9)
        #expect(world.refused(201..<300) < 0.03)
        #expect(world.used(230..<300) >= 0.9)
    }

    @Test(arguments: [20.0, 200])
    func `a process that is late still uses the limit`(_ limit: Double) async {
        let world = await RateWorld.played {
            RateWorld(Limiter(.bucket(depth: limit / 4), rate: limit), replicas: 1, duration: 120, lateness: 0.15)
        }
        #expect(world.refused(10..<120) < 0.03)
        #expect(world.used(10..<120) >= 0.95)
    }
}
