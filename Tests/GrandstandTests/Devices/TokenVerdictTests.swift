internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// What a refusal of APNs' own trouble says of a push: 503 that it was not taken, any other 5xx nothing.
struct TokenVerdictTests {
    private static let now = Date(timeIntervalSince1970: 1_795_300_000)

    private static func refusal(_ reason: String, _ status: Int) -> APNsAnswer<Void> {
        .refused(APNsRefusal(status: status, reason: APNsReason(rawValue: reason)))
    }

    @Test(arguments: [("InternalServerError", 500), ("BadGateway", 502), ("Whatever", 504)])
    func `after an error in the midst of it a start may have been made`(reason: String, status: Int) {
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
    func `a service that was not available made none`(reason: String) {
        let verdict = TokenVerdict(
            Self.refusal(reason, 503), attempts: 1, deadline: Self.now.addingTimeInterval(60), now: Self.now, jitter: 0)
        guard case .retry(_, reason) = verdict else {
            Issue.record("\(verdict)")
            return
        }
    }
}
