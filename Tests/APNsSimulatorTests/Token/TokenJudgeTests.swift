internal import APNsWire
internal import Testing

@testable internal import APNsSimulator

/// Tokens beyond those of docs/internals/conformance.json.
struct TokenJudgeTests {
    @Test(
        arguments: [(0, nil), (-3_600, nil), (-3_601, .expiredProviderToken), (60, nil), (61, .invalidProviderToken)]
            as [(Double, APNsReason?)])
    func `a token is accepted for an hour, also when it is remembered`(issued: Double, reason: APNsReason?) throws {
        let provider = Provider()
        var judge = TokenJudge(keys: [provider.registered()])
        let token = try provider.token(at: Bench.now + issued)
        let said = [Bench.now, Bench.now + 7_200].map { refusal(of: token, by: &judge, at: $0) }
        #expect(said == [reason, .expiredProviderToken])
    }

    private func refusal(of token: String, by judge: inout TokenJudge, at now: Double = Bench.now) -> APNsReason? {
        do throws(Refusal) {
            _ = try judge.judge(authorization: "Bearer \(token)", now: now)
            return nil
        } catch {
            return error.reason
        }
    }
}
