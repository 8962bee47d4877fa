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

    @Test(arguments: [true, false])
    func `forty connections of phones leave room for organisers, with an app's key or without a key`(
        hasKey: Bool
    ) async throws {
        try await Stage.with(settings: ["GRANDSTAND_MAX_CONNECTIONS": "10"]) { stage in
            try await stage.putLiveEvent()
            let organiser = try Peer(stage.url)
            let question = Self.request("/v1/events/derby", try await stage.caller([.organise]).secret)
            organiser.send(question)
            #expect(await organiser.answer().hasPrefix("HTTP/1.1 200"))

            let lookup = try await stage.caller([.lookup]).secret
            var phones: [Peer] = []
            for _ in 0..<40 {
                let phone = try Peer(stage.url)
                phone.send(Self.request("/v1/lookup/com.example.Stadium/development/derby", hasKey ? lookup : nil))
                #expect(await phone.answer().hasPrefix(hasKey ? "HTTP/1.1 200" : "HTTP/1.1 401"))
                phones.append(phone)
            }
            // An organiser that connects now is served.
            let another = try Peer(stage.url)
            another.send(question)
            #expect(await another.answer().hasPrefix("HTTP/1.1 200"))
            // The organiser that connected first is served, too. The server has closed the oldest connections of the
            // phones.
            organiser.send(question)
            #expect(await organiser.answer().hasPrefix("HTTP/1.1 200"))
            for phone in phones.prefix(30) { #expect(await phone.answer().isEmpty) }
        }
    }
}
