internal import APNsWire
internal import Foundation
internal import Testing

@testable internal import APNsSimulator

struct TokenJudgeTests {
    /// The header and claims of a token. `{kid}`, `{iss}` and `{iat}` are replaced by the provider's key ID, its team
    /// ID and the bench's time.
    struct Content: Sendable, CustomTestStringConvertible {
        var name: String
        var header = #"{"alg":"ES256","kid":"{kid}"}"#
        var claims = #"{"iss":"{iss}","iat":{iat}}"#
        var testDescription: String { name }
    }

    @Test(arguments: [
        Content(name: "plain"),
        Content(name: "with typ", header: #"{"typ":"JWT","kid":"{kid}","alg":"ES256"}"#),
        Content(name: "with another claim", claims: #"{"iat":{iat},"iss":"{iss}","x":[1]}"#),
        Content(name: "iat with a fraction", claims: #"{"iss":"{iss}","iat":{iat}.5}"#),
    ])
    func `valid tokens are accepted`(content: Content) throws {
        #expect(try judge(content).teamID == "TESTTEAM01")
    }

    @Test(arguments: [
        Content(name: "another algorithm", header: #"{"alg":"HS256","kid":"{kid}"}"#),
        Content(name: "none", header: #"{"alg":"none","kid":"{kid}"}"#),
        Content(name: "no kid", header: #"{"alg":"ES256"}"#),
        Content(name: "unknown kid", header: #"{"alg":"ES256","kid":"NOBODYSKEY"}"#),
        Content(name: "header no JSON", header: "ES256"),
        Content(name: "no iss", claims: #"{"iat":{iat}}"#),
        Content(name: "another team", claims: #"{"iss":"OTHERTEAM1","iat":{iat}}"#),
        Content(name: "no iat", claims: #"{"iss":"{iss}"}"#),
        Content(name: "iat a string", claims: #"{"iss":"{iss}","iat":"{iat}"}"#),
        Content(name: "iat beyond numbers", claims: #"{"iss":"{iss}","iat":1e999}"#),
    ])
    func `invalid tokens are refused`(content: Content) {
        #expect(throws: Refusal(.invalidProviderToken)) { try judge(content) }
    }

    @Test(
        arguments: [(0, nil), (-3_600, nil), (-3_601, .expiredProviderToken), (60, nil), (61, .invalidProviderToken)]
            as [(Double, APNsReason?)])
    func `a token is accepted for an hour`(issued: Double, reason: APNsReason?) throws {
        let provider = Provider()
        var judge = TokenJudge(keys: [try provider.registered()])
        let token = try provider.token(at: Bench.now.addingTimeInterval(issued))
        #expect(refusal { try judge.judge(authorization: "bearer \(token)", now: Bench.now) } == reason)
    }

    @Test func `a remembered token expires, too`() throws {
        let provider = Provider()
        var judge = TokenJudge(keys: [try provider.registered()])
        let authorization = "Bearer \(try provider.token(at: Bench.now))"
        _ = try judge.judge(authorization: authorization, now: Bench.now)
        let later = Bench.now.addingTimeInterval(3_601)
        #expect(refusal { try judge.judge(authorization: authorization, now: later) } == .expiredProviderToken)
    }

    @Test func `a changed signature, another key, padding or a fourth part is refused`() throws {
        let provider = Provider()
        let impostor = Provider()
        var judge = TokenJudge(keys: [try provider.registered()])
        let token = try provider.token(at: Bench.now)
        let other = try provider.token(at: Bench.now.addingTimeInterval(1))
        let mixed =
            token.prefix(through: token.lastIndex(of: ".") ?? token.startIndex)
            + other.suffix(from: other.lastIndex(of: ".").map(other.index(after:)) ?? other.startIndex)
        for forged in [String(mixed), try impostor.token(at: Bench.now), token + "==", token + ".x", "..", "a.b.c"] {
            #expect(
                refusal { try judge.judge(authorization: "bearer \(forged)", now: Bench.now) } == .invalidProviderToken,
                "\(forged)")
        }
    }

    private func judge(_ content: Content) throws -> ProviderToken {
        let provider = Provider()
        var judge = TokenJudge(keys: [try provider.registered()])
        let token = try provider.token(header: fill(content.header, provider), claims: fill(content.claims, provider))
        return try judge.judge(authorization: "bearer \(token)", now: Bench.now)
    }

    private func fill(_ text: String, _ provider: Provider) -> String {
        text.replacing("{kid}", with: provider.keyID).replacing("{iss}", with: provider.teamID)
            .replacing("{iat}", with: "\(Int(Bench.now.timeIntervalSince1970))")
    }

    private func refusal(_ body: () throws -> ProviderToken) -> APNsReason? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? Refusal)?.reason
        }
    }
}
