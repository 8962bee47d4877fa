internal import Foundation
internal import GrandstandClient
internal import Testing

/// Which requests are repeated, and after which wait. The tests need no clock.
struct RetryPolicyTests {
    private typealias Policy = GrandstandClient.RetryPolicy

    private static func answer(_ status: Int, _ kind: Contract.ProblemKind? = nil, after: Int? = nil)
        -> Policy.Outcome
    {
        .answer(status: status, kind: kind, retryAfter: after)
    }

    @Test(arguments: [
        (true, [500, 502, 503, 504, 429]), (false, [301, 400, 401, 403, 404, 409, 410, 412, 413, 415, 422, 501]),
    ])
    func `a temporary failure is repeated, a permanent refusal is not`(repeats: Bool, statuses: [Int]) {
        for status in statuses {
            let wait = Policy.standard.wait(after: Self.answer(status), made: 1, elapsed: .zero, chance: 0.5)
            #expect((wait != nil) == repeats, "\(status)")
        }
    }

    @Test(arguments: [(502, Contract.ProblemKind.apnsRefused), (504, .apnsUnanswered)])
    func `APNs' answer is final, whatever its status`(status: Int, kind: Contract.ProblemKind) {
        #expect(Policy.standard.wait(after: Self.answer(status, kind), made: 1, elapsed: .zero, chance: 0) == nil)
    }

    @Test func `a repetition during the first attempt waits for that attempt`() {
        let outcome = Self.answer(409, .idempotencyInProgress)
        #expect(Policy.standard.wait(after: outcome, made: 1, elapsed: .zero, chance: 0) != nil)
    }

    @Test func `network faults are repeated, a wrong address or certificate is not`() {
        func wait(_ code: URLError.Code) -> TimeInterval? {
            Policy.standard.wait(after: .fault(URLError(code)), made: 1, elapsed: .zero, chance: 1)
        }
        for code in [URLError.timedOut, .networkConnectionLost, .cannotConnectToHost, .notConnectedToInternet] {
            #expect(wait(code) != nil)
        }
        for code in [URLError.badURL, .serverCertificateUntrusted, .cancelled] { #expect(wait(code) == nil) }
        #expect(
            Policy.standard.wait(after: .fault(CancellationError()), made: 1, elapsed: .zero, chance: 1) == nil)
    }

    @Test func `a wait is random, up to a limit that doubles up to its maximum`() {
        let policy = Policy(attempts: 20, firstWait: 1, longestWait: 5, deadline: 1000)
        func wait(_ made: Int, _ chance: Double) -> TimeInterval? {
            policy.wait(after: Self.answer(503), made: made, elapsed: .zero, chance: chance)
        }
        #expect((1...5).map { wait($0, 1) } == [1, 2, 4, 5, 5])
        #expect((1...5).map { wait($0, 0) } == Array(repeating: .zero, count: 5))
        #expect(wait(3, 0.25) == 1)
        #expect(wait(19, 1) == 5)
        #expect(wait(20, 1) == nil)
    }

    @Test func `Retry-After is respected, and a wait never goes past the deadline`() {
        let policy = Policy(attempts: 9, firstWait: 1, longestWait: 5, deadline: 30)
        #expect(policy.wait(after: Self.answer(429, after: 7), made: 1, elapsed: .zero, chance: 0) == 7)
        #expect(policy.wait(after: Self.answer(429, after: 7), made: 1, elapsed: .zero, chance: 1) == 8)
        #expect(policy.wait(after: Self.answer(429, after: 7), made: 1, elapsed: 23, chance: 0) == nil)
        #expect(policy.wait(after: Self.answer(503, after: 86_400), made: 1, elapsed: .zero, chance: 0) == nil)
        #expect(policy.wait(after: Self.answer(503), made: 1, elapsed: 30, chance: 0) == nil)
    }
}
