internal import Foundation
internal import GrandstandClient
internal import JSON
internal import Testing

/// Raw JSON, whose bytes must not change, and problem documents as they are received.
struct JSONTests {
    @Test func `a value is written by its own encoder and read by its decoder, which get the value of raw JSON`() throws
    {
        struct Score: Codable, Equatable {
            var home: Int
            var at: Date
            var raw: RawJSON
        }
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.outputFormatting = .sortedKeys
        let score = Score(
            home: 1, at: Date(timeIntervalSince1970: 5), raw: try RawJSON(json: #"{"a": [1.5, null, true, "x"]}"#))
        let raw = try RawJSON(score, encoder: encoder)
        #expect(raw.description == #"{"at":5,"home":1,"raw":{"a":[1.5,null,true,"x"]}}"#)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        #expect(try raw.decode(Score.self, decoder: decoder).raw.description == #"{"a":[1.5,null,true,"x"]}"#)
    }

    @Test func `values of the API and of an app are decoded from raw JSON`() throws {
        let throttle = #"{"bundleId":"a","environment":"production","api":"device","since":"2026-11-21T20:45:00.250Z"}"#
        let read = try RawJSON(json: throttle).decode(GrandstandClient.ThrottleEnded.self)
        #expect(read.since == Date(timeIntervalSince1970: 1_795_293_900.25) && read.api == .device)
        let date = Date(timeIntervalSinceReferenceDate: 5)
        #expect(try RawJSON([date]).decode([Date].self) == [date])
    }

    @Test func `members are sorted, so the same value always gives the same bytes`() throws {
        struct State: Encodable {
            var f = 6, b = 2, c = 3, a = 1, e = 5, d = 4
        }
        #expect(try RawJSON(State()).description == #"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}"#)
    }

    @Test func `a problem document is read completely`() async throws {
        let text =
            #"{"type":"https://grandstand.dev/problems/unknown-field","title":"T","status":422,"detail":"D","requestId":"r","errors":[{"pointer":"/x","detail":"d"}],"apns":{"status":400,"reason":"BadX","requestId":null}}"#
        let transport = ScriptedTransport([
            { .init(status: 422, headers: ["Retry-After": "9"], body: Data(text.utf8)) }
        ])
        let problem = try #require(
            await #expect(throws: ServerProblem.self) {
                try await GrandstandClient.test(transport).send(.getEvent("derby"))
            })
        #expect(problem.kind == .unknownField)
        #expect(problem.status == 422)
        #expect(problem.errors.map(\.pointer) == ["/x"])
        #expect(problem.apns?.reason == "BadX")
        #expect(problem.requestId == "r")
        #expect(problem.retryAfter == 9)
        #expect("\(problem)" == "T: D")
    }

    @Test func `an unknown kind, or an answer that is not a problem document, is a problem of an unknown kind`()
        async throws
    {
        func problem(_ response: GrandstandClient.Answer) async throws -> ServerProblem {
            let transport = ScriptedTransport { _ in response }
            return try #require(
                await #expect(throws: ServerProblem.self) {
                    try await GrandstandClient.test(transport).send(.getEvent("derby"))
                })
        }
        let new = try await problem(.problem(418, "tea-pot"))
        #expect(new.kind == nil)
        #expect(new.slug == "tea-pot")
        let page = try await problem(.init(status: 403, body: Data("<html>".utf8)))
        #expect(page.kind == nil)
        #expect("\(page)" == "HTTP 403: <html>")
    }

    @Test func `an unknown value of an enumeration is kept`() throws {
        let text = #"{"state":"asleep","reason":null}"#
        let apns = try JSONValue(decoding: text.utf8).decode(GrandstandClient.APNsState.self)
        #expect(apns.state == .unknown("asleep"))
        #expect(String(decoding: JSONWriter.text(apns), as: UTF8.self) == text)
    }
}
