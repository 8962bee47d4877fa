internal import APNsWire
internal import Foundation
internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Synchronization
internal import Testing

@testable internal import GrandstandHTTP

/// The writer of an event stream, with a client that reads and with one that does not.
@Suite(.timeLimit(.minutes(20)))
struct EventStreamWriterTests {
    /// Stores what is written. After `capacity` writes it accepts nothing more, like a full socket.
    private struct Socket: ResponseBodyWriter {
        final class Content: Sendable {
            let texts = Mutex<[String]>([])
            let capacity: Int

            init(capacity: Int) { self.capacity = capacity }

            func take(_ text: String) -> Bool {
                texts.withLock { texts in
                    guard texts.count < capacity else { return false }
                    texts.append(text)
                    return true
                }
            }
        }

        let content: Content

        mutating func write(_ buffer: ByteBuffer) async throws {
            guard !content.take(String(buffer: buffer)) else { return }
            let (never, hold) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
            withExtendedLifetime(hold) {}
            throw CancellationError()
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    private static func settings(stallTimeout: Duration = .seconds(30)) -> StreamSettings {
        var settings = StreamSettings()
        settings.stallTimeout = stallTimeout
        return settings
    }

    private static let board: LiveBoard? = EventKey(rawValue: "derby").map {
        LiveBoard(eventKey: $0, state: .live, broadcasts: [])
    }

    @Test func `updates are written in the syntax of event streams`() async throws {
        let board = try #require(Self.board)
        let (updates, continuation) = AsyncStream.makeStream(of: LiveUpdate.self)
        continuation.yield(LiveUpdate(.snapshot(board), tag: "abc"))
        continuation.yield(LiveUpdate(.heartbeat, tag: nil))
        continuation.yield(LiveUpdate(.state(.ended), tag: nil))
        continuation.finish()
        let content = Socket.Content(capacity: 10)
        try await EventStreamWriter(settings: Self.settings()).write(updates, to: Socket(content: content)) { true }
        let texts = content.texts.withLock { $0 }
        #expect(
            texts == [
                "retry: 2000\n\n",
                "id: abc\nevent: snapshot\ndata: {\"eventKey\":\"derby\",\"state\":\"live\",\"broadcasts\":[]}\n\n",
                ": still here\n\n", "event: state\ndata: {\"state\":\"ended\"}\n\n",
            ])
    }

    @Test func `a reader that reads nothing is disconnected`() async throws {
        let (updates, continuation) = AsyncStream.makeStream(of: LiveUpdate.self)
        continuation.yield(LiveUpdate(.heartbeat, tag: nil))
        let writer = EventStreamWriter(settings: Self.settings(stallTimeout: .milliseconds(40)))
        let content = Socket.Content(capacity: 1)
        await #expect(throws: EventStreamWriter.SlowReader.self) {
            try await writer.write(updates, to: Socket(content: content)) { true }
        }
        continuation.finish()
    }

    @Test func `the stream of a revoked key ends with the next heartbeat`() async throws {
        let (updates, continuation) = AsyncStream.makeStream(of: LiveUpdate.self)
        for _ in 0..<3 { continuation.yield(LiveUpdate(.heartbeat, tag: nil)) }
        let content = Socket.Content(capacity: 10)
        let asked = Mutex(0)
        try await EventStreamWriter(settings: Self.settings()).write(updates, to: Socket(content: content)) {
            asked.withLock { count in
                count += 1
                return count < 2
            }
        }
        let count = content.texts.withLock { $0.count }
        #expect(count == 2)
        continuation.finish()
    }
}
