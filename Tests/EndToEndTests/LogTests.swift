internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// The log of a busy server holds no secret.
@Suite(.timeLimit(.minutes(20)))
struct LogTests {
    private static let token = "80abcdef0123456789abcdef"
    private static let installationSecret = "the-installation-secret-of-a-phone-that-nobody-else-has"

    @Test func `no key, token, signing key or content state is in the log of a busy run`() async throws {
        try await Stage.place(settings: ["GRANDSTAND_LOG_LEVEL": "info"]) { environment, simulator in
            var secret = ""
            try await Stage.serve(environment, simulator: simulator) { stage in
                try await stage.putLiveEvent()
                secret = try #require(stage.api.secret)
            }
            let process = try await ServerProcess.start(environment, keepsLog: true)
            let caller = HTTPCaller(url: process.url, secret: secret)
            let made = try await caller("POST", "/v1/keys", #"{"name": "another", "scopes": ["organise"]}"#)
            let other = try #require(made.json["secret"]?.string)
            for n in 0..<20 {
                _ = try await caller(
                    "POST", "/v1/events/derby/broadcasts",
                    #"{"event": "update", "contentState": {"whisper": "geheim-\#(n)"}}"#)
                _ = try await caller(
                    "POST", "/v1/events/derby/broadcasts",
                    #"{"event": "update", "contentState": {"whisper": "geheim-\#(n)}"#)
                _ = try await HTTPCaller(url: process.url, secret: other)("GET", "/v1/events")
                _ = try await HTTPCaller(url: process.url, secret: "gs_guess-\(n)")("GET", "/v1/events")
            }
            let phone = try await caller(
                "POST", "/v1/keys", #"{"name": "app", "scopes": ["device"], "bundleId": "\#(Stage.bundleID)"}"#)
            let device = HTTPCaller(url: process.url, secret: try #require(phone.json["secret"]?.string))
            let installation = "/v1/apps/\(Stage.bundleID)/production/installations/\(UUID())"
            let registration =
                #"{"systemVersion": "18", "startTokens": [{"attributesType": "M", "token": "\#(Self.token)"}]}"#
            let proof = ["Grandstand-Installation-Secret": Self.installationSecret]
            #expect(try await device("PUT", installation, registration, headers: proof).status == 201)
            #expect(try await device("PUT", installation, registration + "}", headers: proof).status == 400)
            let wrong = ["Grandstand-Installation-Secret": String(Self.installationSecret.reversed())]
            #expect(try await device("PUT", installation, registration, headers: wrong).status == 403)
            for (key, status) in [(secret, "303"), ("gs_guess-console", "401")] {
                let form = try Peer(process.url)
                form.send(
                    "POST /console/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                        + "Content-Length: \(4 + key.utf8.count)\r\n\r\nkey=\(key)")
                #expect(await form.answer().hasPrefix("HTTP/1.1 \(status)"))
            }
            _ = try await until("all is sent") {
                let page = try await caller("GET", "/v1/events/derby/broadcasts?limit=1").json
                return page["items"]?[0]?["state"]?.string == "done" ? true : nil
            }
            await process.terminate()
            let log = process.log
            let folder = try #require(environment["GRANDSTAND_APNS_KEY_DIR"])
            let signingKey = try String(contentsOfFile: folder + "/AuthKey_SIMULATOR1.p8", encoding: .utf8)
            let body = signingKey.split(separator: "\n").filter { !$0.hasPrefix("-----") }.map(String.init)
            #expect(log.contains("listening"))
            // `eyJ` begins every JSON Web Token.
            for word in [
                secret, other, "gs_guess", "geheim", "eyJ", "BEGIN PRIVATE KEY", "Bearer", Self.token, "abcdef01",
                "nstallation-secret-of",
            ] + body {
                #expect(!log.contains(word), "\(word.prefix(12))")
            }
        }
    }
}
