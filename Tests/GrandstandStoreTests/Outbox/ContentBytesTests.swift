internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

struct ContentBytesTests {
    @Test func `content and alert reach the message byte for byte`() async throws {
        let texts = [
            #"{"n":1.50e3}"#, #"{"n":12345678901234567890}"#, #"{"n":-0.0,"m":1E400}"#,
            #"{"ball":"\u26bd","raw":"⚽"}"#, #"{"z":1,"a":2,"m":3}"#, "{ \"a\" :\t[ 1 ,\n 2 ] }",
            #"{"nul":"\u0000","slash":"\/"}"#, "{}", #"{"quote":"'; drop table apps; -- $1"}"#,
        ]
        try await withStores { stores in
            try await stores.open()
            for text in texts {
                try await stores.accept(.update(text, alert: text))
                let sent = try await stores.sendOne()
                #expect(
                    sent.text == #"{"aps":{"timestamp":\#(try sent.timestamp),"event":"update","content-state":"#
                        + #"\#(text),"alert":\#(text)}}"#)
                let entry = try await stores.events.lookup(
                    topic: "com.example.goal", in: .production, .sample(), contentState: true, now: stores.now)
                #expect(entry?.contentState == Array(text.utf8))
            }
        }
    }

    @Test func `the members that describe the state are sent with it byte for byte, and so is the alert`() async throws
    {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(.update("{ \"z\":1.50 }", alert: #"{ "title":"\u26bd" }"#))
            var request = BroadcastRequest.update("{ \"z\":2.50 , \"a\":1}")
            request.payload.staleDate = 1_700_000_400
            request.payload.relevanceScore = Array("1e2".utf8)
            try await stores.accept(request)
            let first = try #require(try await stores.claim().first)
            try await stores.settle(first, .retry(at: stores.now + 1, reason: "ServiceUnavailable"))
            request.payload.alert = Array(#"{ "title":"\u26bd" }"#.utf8)
            #expect(try await stores.sendOne().message.body == request.payload.body(timestamp: 1_700_000_001))
        }
    }

    @Test func `the message has every member that was given`() async throws {
        try await withStores { stores in
            try await stores.open()
            var payload = BroadcastPayload(event: .end)
            payload.staleDate = 1_700_000_100
            payload.dismissalDate = 1_700_000_200
            payload.relevanceScore = Array("75.0".utf8)
            try await stores.accept(BroadcastRequest(payload: payload, priority: .powerAware, apnsExpiration: 0))
            let sent = try await stores.sendOne()
            #expect(sent.message.body == payload.body(timestamp: 1_700_000_000))
            #expect(sent.message.priority == .powerAware)
            #expect(sent.message.expiration == 0)
        }
    }
}
