internal import APNsSimulator
internal import Cryptography
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// A wrong signing key under the same file name, while a match is on.
@Suite(.timeLimit(.minutes(20)))
struct RefusedKeyTests {
    @Test func `a refused signing key is reported, and soon after the right one is there all works`() async throws {
        let folder = try TemporaryFolder()
        func put(_ key: String) throws { try folder.write(key, to: "AuthKey_\(SimulatorIdentity.keyID).p8") }
        try await Stage.with(settings: ["GRANDSTAND_APNS_KEY_DIR": folder.path]) { stage in
            let right = try String(contentsOfFile: try #require(stage.simulator.addresses).keyFile, encoding: .utf8)
            try put(right)
            try await stage.putLiveEvent()
            var number = 0
            func update() async throws -> String {
                number += 1
                return try await stage.broadcast(#"{"event": "update", "contentState": {"n": \#(number)}}"#)
            }
            #expect(try await stage.settled(update()).deliveryStates == ["accepted"])

            try put(PrivateKey.p256().pem)
            // The server checks the file every two seconds. Until then it sends with the old token.
            try await until("the alarm stands") {
                _ = try await update()
                return try await stage.quota()["alarm"]?.string == "key-refused"
            }
            let app = try await stage.api("GET", "/v1/apps").json["items"]?[0]
            #expect(app?["credentials"]?["development"]?.string == "refused")
            #expect(app?["credentials"]?["production"]?.string == "ok")
            let refusal = app?["credentialRefusals"]?["development"]
            #expect(refusal?["reason"]?.string == "InvalidProviderToken")
            let ready = try await stage.api("GET", "/readyz")
            #expect(ready.status == 200)
            #expect(ready.json["apns"]?["development"]?["state"]?.string == "refused")
            // `/readyz` needs no API key, so it does not name the signing key.
            #expect(!ready.text.contains(SimulatorIdentity.keyID))

            try put(right)
            #expect(try await stage.settled(update()).deliveryStates == ["accepted"])
            try await until("nothing is said of it any more") {
                let app = try await stage.api("GET", "/v1/apps").json["items"]?[0]
                let state = try await stage.api("GET", "/readyz").json["apns"]?["development"]?["state"]?.string
                return try await stage.quota()["alarm"]?.string == nil
                    && app?["credentials"]?["development"]?.string == "ok" && state == "reachable"
            }
        }
    }
}
