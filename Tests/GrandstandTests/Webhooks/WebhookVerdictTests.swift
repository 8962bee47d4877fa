internal import FoundationEssentials
internal import Grandstand
internal import Testing

struct WebhookVerdictTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func verdict(_ answer: WebhookAnswer, tries: Int = 1, jitter: Double = 0.5) -> WebhookVerdict {
        WebhookVerdict(answer, tries: tries, now: now, jitter: jitter)
    }

    private func delay(_ answer: WebhookAnswer, tries: Int = 1, jitter: Double = 0.5) throws -> Double {
        let verdict = verdict(answer, tries: tries, jitter: jitter)
        #expect(verdict.state == .queued && !verdict.isGone)
        return try #require(verdict.retryAt).timeIntervalSince(now)
    }

    @Test func `2xx means delivered, 410 is final, and everything else is repeated`() throws {
        for status in [200, 201, 202, 204, 299] {
            let verdict = verdict(.answered(status: status))
            #expect((verdict.state, verdict.status, verdict.reason) == (.delivered, status, nil))
        }
        let gone = verdict(.answered(status: 410, retryAfter: 5))
        #expect(gone.isGone && gone.state == .failed && gone.retryAt == nil)
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
        #expect(delays == WebhookVerdict.delays)
        let days: Double = delays.reduce(0, +) / 86_400
        #expect(days >= 2 && days <= 4)
        #expect(delays == delays.sorted())
        for (answer, tries, status, reason) in [
            (.unanswered("x"), 10, nil, "x"), (.answered(status: 500), 11, 500, "HTTP 500"),
        ] as [(WebhookAnswer, Int, Int?, String)] {
            let verdict = verdict(answer, tries: tries)
            #expect((verdict.state, verdict.status, verdict.reason) == (.failed, status, reason))
            #expect(verdict.retryAt == nil)
        }
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
