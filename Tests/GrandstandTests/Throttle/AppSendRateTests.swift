internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// Whether a 429 comes from the app's limit or from a lane's own limit.
struct AppSendRateTests {
    private let start = Date(timeIntervalSinceReferenceDate: 1_000)

    private func after(_ seconds: TimeInterval) -> Date { start.addingTimeInterval(seconds) }

    /// In each second, each of ten lanes sends one message. Messages of `lanes` are refused, and messages of the other
    /// lanes are accepted.
    private func traffic(
        _ rate: inout AppSendRate, seconds: Range<Int>, refusing lanes: [Int]
    ) {
        for second in seconds {
            for lane in 0..<10 {
                let time = after(Double(second) + Double(lane) / 10)
                if lanes.contains(lane) {
                    rate.throttled(lane: lane, sentAt: time, at: time)
                } else {
                    rate.accepted(lane: lane, sentAt: time, at: time)
                }
            }
        }
    }

    /// For three seconds about half of the lanes are refused, a different set of lanes in each second.
    private func refuse(_ rate: inout AppSendRate, from second: Int) {
        traffic(&rate, seconds: second..<second + 1, refusing: [0, 2, 4, 6, 8])
        traffic(&rate, seconds: second + 1..<second + 2, refusing: [1, 3, 5, 7, 9])
        traffic(&rate, seconds: second + 2..<second + 3, refusing: [0, 3, 4, 7, 8])
    }

    @Test func `a lane that is accepted again is slowed less and less`() throws {
        var rate = AppSendRate()
        traffic(&rate, seconds: 0..<5, refusing: [3])
        var pauses: [TimeInterval] = []
        var time = after(5)
        for _ in 0..<60 {
            let next = rate.notBefore(lane: 3, at: time) ?? time
            pauses.append(next.timeIntervalSince(time))
            time = next.addingTimeInterval(0.001)
            rate.accepted(lane: 3, sentAt: time, at: time)
        }
        #expect(try #require(pauses.last) < pauses[0] / 4)
    }

    @Test func `if all lanes are throttled alike it is the app's limit, and no lane has one of its own`() {
        var rate = AppSendRate()
        traffic(&rate, seconds: 0..<3, refusing: [])
        refuse(&rate, from: 3)
        #expect(rate.rate.isLimited)
        for lane in 0..<10 { #expect(rate.notBefore(lane: lane, at: after(6)) == nil) }
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
                rate.throttled(lane: number, sentAt: time, at: time)
            } else {
                rate.accepted(lane: number % lanes, sentAt: time, at: time)
            }
        }
        #expect(rate.rate.isLimited == isLimited)
    }

    @Test func `the only lane of an app is slowed by its own 429s`() throws {
        var rate = AppSendRate()
        for second in 0..<4 { rate.throttled(lane: 1, sentAt: after(Double(second)), at: after(Double(second))) }
        #expect(!rate.rate.isLimited)
        #expect(rate.notBefore(lane: 1, at: after(3)) != nil)
    }

    /// Lanes that send twice a second, each with its own limit, and lanes without a limit.
    @Test func `lanes with their own limits do not slow the others`() {
        var random = SplitMix64(state: 7)
        var rate = AppSendRate()
        var limiters = (0..<3).map { _ in Limiter(.bucket(depth: 2), rate: 0.5) }
        var next = [Double](repeating: 0, count: 60)
        var refused = 0
        var own = 0
        for tick in 0..<12_000 {
            let time = Double(tick) / 100
            for lane in 0..<60 where next[lane] <= time {
                if rate.rate.allowance(at: after(time)) == 0 { continue }
                rate.rate.spend(1, at: after(time))
                let isAccepted = lane < 3 ? limiters[lane].takes(at: time) : true
                next[lane] = time + 0.5
                if isAccepted {
                    rate.accepted(lane: lane, sentAt: after(time), at: after(time + 0.001))
                    if lane < 3, time > 60 { own += 1 }
                } else {
                    rate.throttled(lane: lane, sentAt: after(time), at: after(time + 0.001))
                    if time > 60 { refused += 1 }
                    next[lane] = time + .random(in: 0.15..<0.25, using: &random)
                }
                if let notBefore = rate.notBefore(lane: lane, at: after(time)) {
                    next[lane] = max(next[lane], notBefore.timeIntervalSince(start))
                }
            }
        }
        #expect(!rate.rate.isLimited)
        #expect(own >= 75)
        #expect(refused <= own / 4)
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
                rate.accepted(lane: lane, sentAt: after(time), at: after(time + 0.001))
                due[lane] = time + .random(in: 1..<1.5, using: &random)
            } else {
                rate.throttled(lane: lane, sentAt: after(time), at: after(time + 0.001))
                due[lane] = time + .random(in: 0.125..<0.25, using: &random)
                refused += 1
            }
            #expect(rate.notBefore(lane: lane, at: after(time + 0.001)) == nil)
        }
        // So many samples exclude chance.
        #expect(refused > 50)
    }

    @Test func `a lane with its own limit is found, even if the app has a limit, too`() throws {
        var rate = AppSendRate()
        traffic(&rate, seconds: 0..<3, refusing: [])
        refuse(&rate, from: 3)
        #expect(rate.rate.isLimited)
        traffic(&rate, seconds: 6..<30, refusing: [3])
        #expect(try #require(rate.notBefore(lane: 3, at: after(20))) > after(20.5))
        for lane in 0..<10 where lane != 3 { #expect(rate.notBefore(lane: lane, at: after(20)) == nil) }
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
                    rate.accepted(lane: lane, sentAt: after(time), at: after(time + 0.001))
                    due[lane] = time + 1
                    if lane < limited { own += 1 } else { free += 1 }
                } else {
                    rate.throttled(lane: lane, sentAt: after(time), at: after(time + 0.001))
                    due[lane] = time + .random(in: 0.125..<0.25, using: &random)
                    refused += 1
                }
                if let next = rate.notBefore(lane: lane, at: after(time)) {
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
