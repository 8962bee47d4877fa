internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

/// Phones, and clients without a key, cannot lock organisers out, however many they are.
@Suite(.timeLimit(.minutes(20)))
struct ShareTests {
    private static func request(_ path: String, _ secret: String?) -> String {
        let key = secret.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        return "GET \(path) HTTP/1.1\r\nHost: x\r\n\(key)\r\n"
    }

    @Test func `forty connections of phones leave room for organisers, with an app's key or without a key`()
        async throws
    {
        try await Stage.with(settings: ["GRANDSTAND_MAX_CONNECTIONS": "10"]) { stage in
            try await stage.putLiveEvent()
            let question = Self.request("/v1/events/derby", try await stage.caller([.organise]).secret)
            func ask(_ organiser: Peer) async {
                organiser.send(question)
                #expect(await organiser.answer().hasPrefix("HTTP/1.1 200"))
            }
            for secret in [try await stage.caller([.lookup]).secret, nil] {
                let organiser = try Peer(stage.url)
                await ask(organiser)
                var phones: [Peer] = []
                for _ in 0..<40 {
                    let phone = try Peer(stage.url)
                    phone.send(Self.request("/v1/lookup/com.example.Stadium/development/derby", secret))
                    #expect(await phone.answer().hasPrefix("HTTP/1.1 \(secret == nil ? 401 : 200)"))
                    phones.append(phone)
                }
                // An organiser that connects now is served, and so is the organiser that connected first. The server
                // has closed the oldest connections of the phones.
                await ask(try Peer(stage.url))
                await ask(organiser)
                for phone in phones.prefix(30) { #expect(await phone.answer().isEmpty) }
            }
        }
    }
}
