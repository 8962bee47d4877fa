internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// What APNs' own faults say about a push: after 503 the push was not accepted. After any other 5xx it is unknown
/// whether the push was accepted.
struct TokenVerdictTests {
    private static let now = Date(timeIntervalSince1970: 1_795_300_000)

    private static func refusal(_ reason: String, _ status: Int) -> APNsAnswer<Void> {
        .refused(APNsRefusal(status: status, reason: APNsReason(rawValue: reason)))
    }

    @Test(arguments: [("InternalServerError", 500), ("BadGateway", 502), ("Whatever", 504)])
    func `after an internal error of APNs a start may have happened`(reason: String, status: Int) {
        let answer = Self.refusal(reason, status)
        let push = TokenVerdict(
            answer, attempts: 1, deadline: Self.now.addingTimeInterval(60), now: Self.now, jitter: 0)
        #expect(push == .unknown(reason: reason))
        let expiresAt = Self.now.addingTimeInterval(60)
        #expect(
            Verdict(answer, of: .start, attempts: 1, expiresAt: expiresAt, now: Self.now, jitter: 0)
                == .unknown(reason: reason))
        for subject in [Verdict.Subject.broadcast, .push] {
            guard
                case .retry = Verdict(answer, of: subject, attempts: 1, expiresAt: expiresAt, now: Self.now, jitter: 0)
            else {
                Issue.record("\(subject) is not repeated")
                return
            }
        }
    }

    @Test(arguments: ["ServiceUnavailable", "Shutdown"])
    func `after 503 no start has happened`(reason: String) {
        let verdict = TokenVerdict(
            Self.refusal(reason, 503), attempts: 1, deadline: Self.now.addingTimeInterval(60), now: Self.now, jitter: 0)
        guard case .retry(_, reason) = verdict else {
            Issue.record("\(verdict)")
            return
        }
    }
}
