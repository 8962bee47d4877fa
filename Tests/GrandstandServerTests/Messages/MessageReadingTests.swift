internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// What people see of broadcasts: contents, answers and replaced messages; and the preview of a broadcast.
struct MessageReadingTests {
    @Test func `a superseded message names its successor`() async throws {
        try await withEvent { stores in
            var ids: [String] = []
            for _ in 1...3 {
                ids.append(try await stores.accept(.update()).id)
                stores.clock.advance(by: 1)
            }
            let all = try await stores.outbox.broadcasts(of: .sample(), PageRequest()).items
            #expect(all.map { $0.deliveries.first?.supersededBy } == [nil, ids[2], ids[1]])
            // The successor is also named if it is on another page.
            let part = try await stores.outbox.broadcasts(of: .sample(), PageRequest(limit: 1)).nextCursor
            let next = try await stores.outbox.broadcasts(of: .sample(), PageRequest(limit: 1, cursor: part)).items
            #expect(next.first?.deliveries.first?.supersededBy == ids[2])
        }
    }

    @Test func `a preview shows what would be sent and superseded, and changes nothing`() async throws {
        try await withEvent { stores in
            let waiting = try await stores.accept(.update()).id
            let before = try await stores.outbox.broadcasts(of: .sample(), PageRequest()).items
            let rehearsal = try await stores.rehearse(.update())
            let part = try #require(rehearsal.audiences.first)
            #expect(rehearsal.audiences.count == 1)
            #expect(part.replaces == [waiting])
            #expect(part.bytes == part.payload.bytes.count)
            #expect(!rehearsal.isScheduled)
            #expect(try await stores.outbox.broadcasts(of: .sample(), PageRequest()).items == before)

            // The preview of an end does not end the event.
            #expect(try await stores.rehearse(BroadcastRequest(payload: BroadcastPayload(event: .end))).event == .end)
            try await stores.accept(.update())
        }
    }
}

struct ContentBytesTests {
    @Test func `content and alert reach the message byte for byte`() async throws {
        let texts = [
            #"{"n":1.50e3}"#, #"{"n":12345678901234567890}"#, #"{"n":-0.0,"m":1E400}"#,
            #"{"ball":"\u26bd","raw":"⚽"}"#, #"{"z":1,"a":2,"m":3}"#, "{ \"a\" :\t[ 1 ,\n 2 ] }",
            #"{"nul":"\u0000","slash":"\/"}"#, "{}", #"{"quote":"'; drop table apps; -- $1"}"#,
        ]
        try await withEvent { stores in
            for text in texts {
                try await stores.accept(.update(text, alert: text))
                let sent = try await stores.sendOne()
                #expect(
                    sent.text == #"{"aps":{"timestamp":\#(try sent.timestamp),"event":"update","content-state":"#
                        + #"\#(text),"alert":\#(text)}}"#)
                #expect(try await stores.lookup()?.contentState?.description == text)
            }
        }
    }

    @Test func `the members that describe the state are sent with it byte for byte, and so is the alert`() async throws
    {
        try await withEvent { stores in
            try await stores.accept(.update("{ \"z\":1.50 }", alert: #"{ "title":"\u26bd" }"#))
            var request = BroadcastRequest.update("{ \"z\":2.50 , \"a\":1}")
            request.payload.staleDate = 1_700_000_400
            request.payload.relevanceScore = Array("1e2".utf8)
            try await stores.accept(request)
            let first = try #require(try await stores.claim().first)
            try await stores.settle(first, .retry(at: stores.now + 1, reason: "ServiceUnavailable"))
            request.payload.alert = Array(#"{ "title":"\u26bd" }"#.utf8)
            #expect(try await stores.sendOne().body == request.payload.body(timestamp: 1_700_000_001))
        }
    }
}
