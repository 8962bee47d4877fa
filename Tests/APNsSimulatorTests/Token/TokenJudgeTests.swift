internal import APNsWire
internal import Testing

@testable internal import APNsSimulator

/// Tokens beyond those of docs/internals/conformance.json.
struct TokenJudgeTests {
    private static let header = #"{"alg":"ES256","kid":"TESTKEY001"}"#
    private static let claims = #"{"iss":"TESTTEAM01","iat":1780000000}"#

    @Test(arguments: [
        (header, claims, true), (#"{"typ":"JWT","kid":"TESTKEY001","alg":"ES256"}"#, claims, true),
        (header, #"{"iat":1780000000,"iss":"TESTTEAM01","x":[1]}"#, true),
        (header, #"{"iss":"TESTTEAM01","iat":1780000000.5}"#, true),
        (#"{"alg":"HS256","kid":"TESTKEY001"}"#, claims, false), (#"{"alg":"none","kid":"TESTKEY001"}"#, claims, false),
        (#"{"alg":"ES256"}"#, claims, false), (#"{"alg":"ES256","kid":"NOBODYSKEY"}"#, claims, false),
        ("ES256", claims, false), (header, #"{"iat":1780000000}"#, false),
        (header, #"{"iss":"OTHERTEAM1","iat":1780000000}"#, false), (header, #"{"iss":"TESTTEAM01"}"#, false),
        (header, #"{"iss":"TESTTEAM01","iat":"1780000000"}"#, false),
        (header, #"{"iss":"TESTTEAM01","iat":1e999}"#, false),
    ])
    func `a signed token needs ES256, a known key, its team, and a number as iat`(
        header: String, claims: String, isValid: Bool
    ) throws {
        let provider = Provider()
        var judge = TokenJudge(keys: [provider.registered()])
        let token = try provider.token(header: header, claims: claims)
        let reason = refusal(of: token, by: &judge)
        #expect(reason == (isValid ? nil : .invalidProviderToken))
    }

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

    @Test func `a changed signature, another key, padding or a fourth part is refused`() throws {
        let provider = Provider()
        var judge = TokenJudge(keys: [provider.registered()])
        let token = try provider.token(at: Bench.now)
        let other = try provider.token(at: Bench.now + 1)
        let mixed = (token.split(separator: ".").prefix(2) + other.split(separator: ".").suffix(1))
            .joined(separator: ".")
        for forged in [mixed, try Provider().token(at: Bench.now), token + "==", token + ".x", "..", "a.b.c"] {
            let reason = refusal(of: forged, by: &judge)
            #expect(reason == .invalidProviderToken, "\(forged)")
        }
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
