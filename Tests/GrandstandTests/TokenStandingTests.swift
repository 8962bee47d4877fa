internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

struct TokenStandingTests {
    private static let key: [UInt8] = [1]
    private static let start = Date(timeIntervalSince1970: 1_000)

    private func at(_ seconds: TimeInterval) -> Date { Self.start.addingTimeInterval(seconds) }

    /// A standing after refusals at 0 s and 1 s.
    private func refused() -> TokenStanding {
        var standing = TokenStanding()
        _ = standing.use(Self.key)
        let begins = [0.0, 1].map { seconds in
            standing.refused(.invalidProviderToken, key: Self.key, now: at(seconds))
        }
        #expect(begins == [false, true])
        return standing
    }

    @Test func `one refusal changes nothing, and after the second in a row requests wait`() {
        var standing = TokenStanding()
        _ = standing.use(Self.key)
        _ = standing.refused(.invalidProviderToken, key: Self.key, now: at(0))
        #expect(standing.turn(now: at(0)) == .send)
        let ended = standing.accepted(key: Self.key)
        #expect(ended == nil)
        _ = standing.refused(.invalidProviderToken, key: Self.key, now: at(1))
        #expect(standing.turn(now: at(1)) == .send)
        _ = standing.refused(.expiredProviderToken, key: Self.key, now: at(2))
        let refusal = KeyRefusal(reason: .expiredProviderToken, since: at(1))
        #expect(standing.refusal == refusal)
        #expect(standing.turn(now: at(3)) == .wait(refusal, seconds: 2))
    }

    @Test func `one request is sent every three seconds, whatever its result is`() {
        var standing = refused()
        // Late answers to requests that were sent before the key counted as refused.
        for _ in 0..<100 { _ = standing.refused(.invalidProviderToken, key: Self.key, now: at(1.5)) }
        let turns = stride(from: 1.0, to: 31, by: 0.25).map { standing.turn(now: at($0)) }
        #expect(turns.count { $0 == .probe } == 9)
        #expect(turns.first { $0 == .probe } != nil && turns[0] != .probe)
        #expect(!turns.contains(.send))
        // A clock that was set back delays nothing.
        #expect(standing.turn(now: at(-3_600)) == .probe)
        let begins = standing.refused(.invalidProviderToken, key: Self.key, now: at(31))
        #expect(!begins)
        #expect(standing.refusal == KeyRefusal(reason: .invalidProviderToken, since: at(0)))
    }

    @Test func `an accepted request ends the refusal, and so does another key in the file`() {
        var standing = refused()
        let ended = standing.accepted(key: Self.key)
        #expect(ended?.since == at(0))
        #expect(standing.turn(now: at(1)) == .send)

        standing = refused()
        let same = standing.use(Self.key)
        #expect(same == nil)
        let replaced = standing.use([2])
        #expect(replaced?.since == at(0))
        #expect(standing.turn(now: at(1)) == .send)
    }

    @Test func `answers about the old key say nothing about the new one`() {
        var standing = refused()
        _ = standing.use([2])
        for _ in 0..<3 { _ = standing.refused(.invalidProviderToken, key: Self.key, now: at(2)) }
        #expect(standing.refusal == nil)
        for _ in 0..<2 { _ = standing.refused(.invalidProviderToken, key: [2], now: at(3)) }
        let ended = standing.accepted(key: Self.key)
        #expect(ended == nil)
        #expect(standing.refusal?.since == at(3))
    }

    @Test func `a message that waits for a key is sent with its next probe, however often it was tried`() {
        let refusal = APNsRefusal.heldBack(
            by: KeyRefusal(reason: .invalidProviderToken, since: Self.start), seconds: 2.2)
        #expect(refusal.retryAfter == 3)
        #expect(Circuit.Outcome(APNsAnswer<Void>.refused(refusal)) == .silent)
        #expect(!APNsAnswer<Void>.refused(refusal).mayBeProcessed)
        for attempts in [1, 2, 1_000] {
            let verdict = Verdict(
                .refused(refusal), attempts: attempts, expiresAt: at(3_600), now: Self.start, jitter: 0.9)
            #expect(verdict == .throttled(until: at(3), reason: "InvalidProviderToken"))
            let push = TokenVerdict(
                .refused(refusal), attempts: attempts, deadline: at(3_600), now: Self.start, jitter: 0.9)
            #expect(push == .retry(at: at(3), reason: "InvalidProviderToken"))
        }
    }
}
