internal import FoundationEssentials
internal import Grandstand
internal import Testing

private let start = Date(timeIntervalSinceReferenceDate: 1_000)

private func after(_ seconds: TimeInterval) -> Date { start.addingTimeInterval(seconds) }

struct SendRateTests {
    /// A rate after this many accepted requests in the second before `start`, and a 429 at `start`.
    private func throttled(after accepted: Int, retryAfter: Int? = nil) -> SendRate {
        var rate = SendRate()
        for number in 0..<accepted {
            let time = after(Double(number) / Double(accepted) * 0.9 - 0.9)
            rate.accepted(at: time)
        }
        rate.throttled(retryAfter: retryAfter, sentAt: after(-0.1), at: start)
        return rate
    }

    @Test func `before the first 429 there is no limit`() {
        var rate = SendRate()
        for number in 0..<10_000 { rate.accepted(at: after(Double(number) / 1_000)) }
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
        rate.accepted(at: after(1.6))
        rate.throttled(sentAt: after(2), at: after(2.1))
        let before = try #require(rate.perSecond)
        for time in stride(from: 5, to: 120, by: 3.0) {
            #expect(rate.allowance(at: after(time)).map { $0 > 0 } ?? false)
            rate.spend(1, at: after(time))
            rate.accepted(at: after(time + 0.02))
        }
        #expect(try #require(rate.perSecond) < max(2, before * 1.5))
    }

    @Test(arguments: [20, 100])
    func `a rate that is half used grows to a multiple of the use at most`(_ limit: Int) throws {
        var rate = throttled(after: limit)
        for number in 0..<limit * 100 {
            let time = after(1 + Double(number) * 2 / Double(limit))
            rate.spend(1, at: time)
            rate.accepted(at: time)
        }
        #expect(try #require(rate.perSecond) <= 3 * Double(limit))
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
        rate.expire(at: after(360))
        #expect(rate.isLimited)
        rate.expire(at: after(360.1))
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

/// Whether a 429 comes from the app's limit or from a lane's own limit.
struct AppSendRateTests {
    /// In each second, each of ten lanes sends one message. Messages of `lanes` are refused, and messages of the other
    /// lanes are accepted.
    private func traffic(
        _ rate: inout AppSendRate, seconds: Range<Int>, refusing lanes: [Int]
    ) {
        for second in seconds {
            for lane in 0..<10 {
                let time = after(Double(second) + Double(lane) / 10)
                if lanes.contains(lane) {
                    rate.throttled(recipient: lane, sentAt: time, at: time)
                } else {
                    rate.accepted(recipient: lane, at: time)
                }
            }
        }
    }

    @Test func `a lane that is accepted again is slowed less and less`() throws {
        var rate = AppSendRate()
        traffic(&rate, seconds: 0..<5, refusing: [3])
        var pauses: [TimeInterval] = []
        var time = after(5)
        for _ in 0..<60 {
            let next = rate.notBefore(recipient: 3, at: time) ?? time
            pauses.append(next.timeIntervalSince(time))
            time = next.addingTimeInterval(0.001)
            rate.accepted(recipient: 3, at: time)
        }
        #expect(try #require(pauses.last) < pauses[0] / 4)
    }

    @Test func `if all lanes are throttled alike it is the app's limit, and then a lane's own limit is found, too`()
        throws
    {
        var rate = AppSendRate()
        traffic(&rate, seconds: 0..<3, refusing: [])
        // For three seconds about half of the lanes are refused, a different set of lanes in each second.
        for (second, lanes) in [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9], [0, 3, 4, 7, 8]].enumerated() {
            traffic(&rate, seconds: second + 3..<second + 4, refusing: lanes)
        }
        #expect(rate.rate.isLimited)
        for lane in 0..<10 { #expect(rate.notBefore(recipient: lane, at: after(6)) == nil) }
        traffic(&rate, seconds: 6..<30, refusing: [3])
        #expect(try #require(rate.notBefore(recipient: 3, at: after(20))) > after(20.5))
        for lane in 0..<10 where lane != 3 { #expect(rate.notBefore(recipient: lane, at: after(20)) == nil) }
    }

    static let shares: [(Int, Int, Double, @Sendable (Int) -> Bool, Bool)] = [
        // Two 429s among many answers.
        (50, 200, 100, { $0 == 150 || $0 == 160 }, false),
        // Tokens that are throttled one by one, and many throttled tokens among few that are accepted.
        (2_000, 2_000, 1_000, { $0 % 10 == 0 }, false), (300, 300, 100, { $0 % 5 != 0 }, true),
    ]

    @Test(arguments: shares)
    func `whether some 429s are the app's limit depends on their share, and on how many lanes have them`(
        lanes: Int, count: Int, perSecond: Double, isRefused: @Sendable (Int) -> Bool, isLimited: Bool
    ) {
        var rate = AppSendRate()
        for number in 0..<count {
            let time = after(Double(number) / perSecond)
            if isRefused(number) {
                rate.throttled(recipient: number, sentAt: time, at: time)
            } else {
                rate.accepted(recipient: number % lanes, at: time)
            }
        }
        #expect(rate.rate.isLimited == isLimited)
    }

    @Test func `the only lane of an app is slowed by its own 429s`() throws {
        var rate = AppSendRate()
        for second in 0..<4 { rate.throttled(recipient: 1, sentAt: after(Double(second)), at: after(Double(second))) }
        #expect(!rate.rate.isLimited)
        #expect(rate.notBefore(recipient: 1, at: after(3)) != nil)
    }

    /// Each push to a device is a lane of its own, and single tokens are refused at any time.
    @Test func `a limit of the app on pushes to devices is found within seconds, also after a token's own 429`() {
        var rate = AppSendRate()
        for number in 0..<100_000 where !rate.rate.isLimited {
            let time = after(Double(number) / 10_000)
            if number == 0 || number >= 50_000 && number % 4 != 0 {
                rate.throttled(recipient: number, sentAt: time, at: time)
            } else {
                rate.accepted(recipient: number, at: time)
            }
        }
        #expect(rate.rate.isLimited)
    }

    /// An event with two audiences, each with a new state a second, and an app that may send one.
    @Test func `two lanes of an app share its limit`() {
        var rate = AppSendRate()
        var limiter = Limiter(.bucket(depth: 1), rate: 1)
        var (accepted, refused, due) = (0, 0, [0.0, 0.5])
        for tick in 0..<12_000 {
            let time = Double(tick) / 100
            for lane in due.indices where due[lane] <= time && rate.rate.allowance(at: after(time)) != 0 {
                rate.rate.spend(1, at: after(time))
                if limiter.takes(at: time) {
                    rate.accepted(recipient: lane, at: after(time))
                    (accepted, due[lane]) = (accepted + 1, time + 1)
                } else {
                    rate.throttled(recipient: lane, sentAt: after(time), at: after(time))
                    (refused, due[lane]) = (refused + 1, time + 0.2)
                }
                if let next = rate.notBefore(recipient: lane, at: after(time)) {
                    due[lane] = max(due[lane], next.timeIntervalSince(start))
                }
            }
        }
        #expect(refused <= accepted / 2)
        #expect(accepted >= 70)
    }

    /// Sixty lanes, each with a new state about once a second, and an app that may send twenty per second. By chance,
    /// some 429s hit the same lane. That is not a reason to slow the lane.
    @Test func `under a limit of the app no lane counts as having its own limit`() {
        var random = SplitMix64(state: 7)
        var rate = AppSendRate()
        var limiter = Limiter(.bucket(depth: 20), rate: 20)
        var due = (0..<60).map { _ in Double.random(in: 0..<1, using: &random) }
        var refused = 0
        for tick in 0..<120_000 {
            let time = Double(tick) / 200
            guard rate.rate.allowance(at: after(time)) != 0,
                let lane = due.indices.min(by: { due[$0] < due[$1] }), due[lane] <= time
            else { continue }
            rate.rate.spend(1, at: after(time))
            if limiter.takes(at: time) {
                rate.accepted(recipient: lane, at: after(time + 0.001))
                due[lane] = time + .random(in: 1..<1.5, using: &random)
            } else {
                rate.throttled(recipient: lane, sentAt: after(time), at: after(time + 0.001))
                due[lane] = time + .random(in: 0.125..<0.25, using: &random)
                refused += 1
            }
            #expect(rate.notBefore(recipient: lane, at: after(time + 0.001)) == nil)
        }
        // So many samples exclude chance.
        #expect(refused > 50)
    }

    /// Sixty lanes with a new state every second. Some have their own limits, which they all reach at about the same
    /// time. The app has no limit.
    @Test(arguments: [1, 6, 20])
    func `however many lanes have limits, the others are not slowed`(limited: Int) {
        var random = SplitMix64(state: 7)
        var rate = AppSendRate()
        var limiters = (0..<limited).map { _ in Limiter(.bucket(depth: 2), rate: 0.2) }
        var due = (0..<60).map { _ in Double.random(in: 0..<1, using: &random) }
        var (free, own, refused) = (0, 0, 0)
        for tick in 0..<12_000 {
            let time = Double(tick) / 100
            for lane in due.indices.filter({ due[$0] <= time }).sorted(by: { due[$0] < due[$1] })
            where rate.rate.allowance(at: after(time)) != 0 {
                rate.rate.spend(1, at: after(time))
                if lane >= limited || limiters[lane].takes(at: time) {
                    rate.accepted(recipient: lane, at: after(time + 0.001))
                    due[lane] = time + 1
                    if lane < limited { own += 1 } else { free += 1 }
                } else {
                    rate.throttled(recipient: lane, sentAt: after(time), at: after(time + 0.001))
                    due[lane] = time + .random(in: 0.125..<0.25, using: &random)
                    refused += 1
                }
                if let next = rate.notBefore(recipient: lane, at: after(time)) {
                    due[lane] = max(due[lane], next.timeIntervalSince(start))
                }
            }
        }
        #expect(!rate.rate.isLimited)
        // In 120 s, each lane without a limit sends a new state nearly every second. Ten seconds may be lost while the
        // limits are being found.
        #expect(free >= (60 - limited) * 110)
        // A lane with a limit may send 0.2 messages per second, in bursts of at most two.
        #expect(own >= limited * 20)
        #expect(refused <= own / 2)
    }
}
