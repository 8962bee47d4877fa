internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandServer

struct SignatureTests {
    /// The example in the reference libraries of the Standard Webhooks specification.
    @Test func `each secret gives the published example its published signature`() throws {
        let secret = try #require(WebhookSecret(rawValue: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let headers = WebhookSignature.headers(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", at: Date(timeIntervalSince1970: 1_614_265_330),
            body: Array(#"{"test": 2432232314}"#.utf8), secrets: [secret, secret])
        let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        #expect(headers.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
        #expect(
            headers.map(\.value) == [
                "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", "\(signature) \(signature)",
            ])
    }
}
