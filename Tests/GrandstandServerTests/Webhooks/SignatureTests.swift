internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandServer

struct SignatureTests {
    /// The example in the reference libraries of the Standard Webhooks specification.
    @Test func `the published example has the published signature`() throws {
        let secret = try #require(WebhookSecret(rawValue: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let headers = WebhookSignature.headers(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", at: Date(timeIntervalSince1970: 1_614_265_330),
            body: Array(#"{"test": 2432232314}"#.utf8), secrets: [secret])
        #expect(headers.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
        #expect(
            headers.map(\.value) == [
                "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
            ])
    }

    @Test func `two secrets give two signatures`() throws {
        let headers = WebhookSignature.headers(
            id: "msg_1", at: Date(timeIntervalSince1970: 1), body: [], secrets: [.random(), .random()])
        let signatures = headers.last?.value.split(separator: " ") ?? []
        #expect(Set(signatures).count == 2)
        #expect(signatures.count == 2)
        let prefixed = signatures.filter { $0.hasPrefix("v1,") }
        #expect(prefixed.count == 2)
    }
}
