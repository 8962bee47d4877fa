internal import APNsSimulator
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

/// The live view, from the outbox to a reader's socket.
@Suite(.timeLimit(.minutes(3)))
struct StreamTests {
    private static let path = "/v1/events/derby/stream"
    private static let update = #"{"event": "update", "contentState": {"n": 1}}"#

    @Test func `a stream begins with a snapshot and then has each broadcast until it is done`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let before = try await stage.broadcast(Self.update)
            _ = try await stage.settled(before)
            let stream = try EventStream.open(stage.api, Self.path)
            var events = stream.events.makeAsyncIterator()
            let snapshot = try #require(await events.next())
            #expect(stream.status == 200)
            #expect(stream.contentType == "text/event-stream")
            #expect(snapshot.name == "snapshot")
            #expect(snapshot.id != nil)
            #expect(snapshot.data["broadcasts"]?.items.map { $0["id"]?.string } == [before])
            #expect(snapshot.data["broadcasts"]?[0]?["state"]?.string == "done")

            let id = try await stage.broadcast(Self.update)
            var last: EventStream.Event?
            while let event = await events.next() {
                guard event.name == "broadcast" else { continue }
                #expect(event.data["id"]?.string == id)
                last = event
                if event.data["state"]?.string == "done" { break }
            }
            #expect(last?.data["counts"]?["accepted"]?.int == 1)
            stream.close()

            // A client that resumes after the newest event gets only what is new.
            let resumed = try EventStream.open(stage.api, Self.path, lastEventID: try #require(last?.id))
            let next = try await stage.broadcast(#"{"event": "end", "contentState": {"n": 2}}"#)
            var later = resumed.events.makeAsyncIterator()
            let first = try #require(await later.next())
            // The broadcast may come before the stream is open. Then the snapshot has it already.
            let newest = first.name == "snapshot" ? first.data["broadcasts"]?[0]?["id"] : first.data["id"]
            #expect(first.name == "state" || newest?.string == next)
            resumed.close()
        }
    }

    @Test func `a stream that resumes after the newest event sends nothing until something changes`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let id = try await stage.broadcast(Self.update)
            _ = try await stage.settled(id)
            let stream = try EventStream.open(stage.api, Self.path)
            var events = stream.events.makeAsyncIterator()
            let tag = try #require(await events.next()?.id)
            let resumed = try EventStream.open(stage.api, Self.path, lastEventID: tag)
            // Another stream, which is opened later, gets its snapshot. The server read the database once for both
            // streams, and sent nothing to the resumed one.
            try await until("the resumed stream is open") { resumed.status != nil }
            let other = try EventStream.open(stage.api, Self.path)
            var others = other.events.makeAsyncIterator()
            #expect(await others.next()?.name == "snapshot")
            let next = try await stage.broadcast(Self.update)
            var later = resumed.events.makeAsyncIterator()
            let first = try #require(await later.next())
            #expect(first.name == "broadcast")
            #expect(first.data["id"]?.string == next)
            for stream in [stream, resumed, other] { stream.close() }
        }
    }

    @Test func `the number of streams is limited, and a closed one makes room`() async throws {
        try await Stage.with(settings: ["GRANDSTAND_STREAMS": "1"]) { stage in
            try await stage.putLiveEvent()
            let stream = try EventStream.open(stage.api, Self.path)
            var events = stream.events.makeAsyncIterator()
            #expect(await events.next()?.name == "snapshot")
            let refused = try await stage.api("GET", Self.path)
            #expect(refused.status == 503)
            #expect(refused.slug == "stream-unavailable")
            #expect(refused.headers["retry-after"] == "2")
            stream.close()
            let again = try await until("the place is free") {
                let again = try EventStream.open(stage.api, Self.path)
                var events = again.events.makeAsyncIterator()
                return await events.next()?.name == nil ? nil : again
            }
            again.close()
        }
    }

    @Test func `a stop ends streams at once`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let stream = try EventStream.open(stage.api, Self.path)
            var events = stream.events.makeAsyncIterator()
            #expect(await events.next()?.name == "snapshot")
            stage.running.cancel()
            let end = await events.next()
            #expect(end?.name == nil)
            try await stage.running.value
        }
    }
}
