internal import FoundationEssentials
internal import Grandstand
internal import Testing

struct WebhookVerdictTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func verdict(_ answer: WebhookAnswer, tries: Int = 1, jitter: Double = 0.5) -> WebhookVerdict {
        WebhookVerdict(answer, tries: tries, now: now, jitter: jitter)
    }

    private func delay(_ answer: WebhookAnswer, tries: Int = 1, jitter: Double = 0.5) throws -> Double {
        guard case .retry(let at, _, _) = verdict(answer, tries: tries, jitter: jitter) else {
            Issue.record("no retry: \(verdict(answer, tries: tries, jitter: jitter))")
            return 0
        }
        return at.timeIntervalSince(now)
    }

    @Test func `2xx means delivered, 410 is final, and everything else is repeated`() throws {
        for status in [200, 201, 202, 204, 299] {
            #expect(verdict(.answered(status: status)) == .delivered(status: status))
        }
        #expect(verdict(.answered(status: 410, retryAfter: 5)) == .gone)
        for status in [300, 301, 302, 307, 400, 401, 404, 409, 422, 429, 500, 503] {
            #expect(verdict(.answered(status: status)).status == status)
            #expect(try delay(.answered(status: status)) == 5)
        }
        #expect(try delay(.unanswered("no answer in time")) == 5)
        #expect(try delay(.refused("private")) == 5)
        #expect(verdict(.refused("private")).reason == "private")
    }

    @Test func `the attempts end after some days`() throws {
        let delays = try (1...9).map { try delay(.unanswered("x"), tries: $0) }
        #expect(delays == WebhookSchedule.standard.delays)
        #expect((2 * 86_400.0...4 * 86_400).contains(delays.reduce(0, +)))
        #expect(delays == delays.sorted())
        #expect(verdict(.unanswered("x"), tries: 10) == .failed(status: nil, reason: "x"))
        #expect(verdict(.answered(status: 500), tries: 11) == .failed(status: 500, reason: "HTTP 500"))
    }

    @Test func `jitter changes a wait by at most a fifth, and Retry-After makes it longer, up to a day`() throws {
        #expect(try delay(.unanswered("x"), tries: 2, jitter: 0) == 240)
        #expect(abs(try delay(.unanswered("x"), tries: 2, jitter: 0.999_999) - 360) < 0.001)
        #expect(try delay(.answered(status: 429, retryAfter: 120)) == 120)
        #expect(try delay(.answered(status: 503, retryAfter: 1), tries: 2) == 300)
        #expect(try delay(.answered(status: 503, retryAfter: 10_000_000)) == 86_400)
    }

    @Test func `a secret has only one form, and is not printed`() throws {
        let secret = WebhookSecret.random()
        #expect(WebhookSecret(rawValue: secret.rawValue) == secret)
        #expect(secret.bytes.count == 32)
        #expect(!"\(secret)".contains(secret.rawValue.dropFirst(6)))
        for text in ["", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_!!!!"] {
            #expect(WebhookSecret(rawValue: text) == nil)
        }
    }
}
