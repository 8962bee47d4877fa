internal import Foundation
internal import Synchronization
internal import Testing

@testable internal import GrandstandClient

/// Server-sent events, complete and from broken connections.
struct EventStreamTests {
    private typealias Message = EventStreamParser.Message

    private static let text =
        "\u{FEFF}retry: 1500\n\n: still here\n\nid: 1\nevent: state\ndata: {\"state\":\"live\"}\n\ndata:a\r\ndata: b\r\n\r\nid: 2\n\nevent: x\rdata: c\r\revent: never\n\ndata: cut off"

    private static let messages = [
        Message(id: "1", name: "state", data: "{\"state\":\"live\"}"), Message(id: "1", name: "message", data: "a\nb"),
        Message(id: "2", name: "x", data: "c"),
    ]

    @Test(arguments: [1, 2, 3, 7, 1000])
    func `a stream is read the same, however its bytes are split`(size: Int) {
        var parser = EventStreamParser()
        let bytes = Data(Self.text.utf8)
        var messages: [Message] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            messages += parser.take(bytes[start..<min(start + size, bytes.count)])
        }
        #expect(messages == Self.messages)
        #expect(parser.retry == 1500)
        #expect(parser.lastID == "2")
    }

    @Test func `an incomplete message does not change the ID from which the next connection continues`() {
        var parser = EventStreamParser()
        #expect(parser.take(Data("id: 1\ndata: a\n\nid: 2\ndata: {\"ev".utf8)).map(\.id) == ["1"])
        #expect(parser.lastID == "1")
    }

    @Test func `a lost stream is opened again from the last received update, until it is refused`() async throws {
        let held = HeldTime(chance: 0)
        let transport = ScriptedTransport([
            {
                .init(
                    status: 200, headers: ["Content-Type": "text/event-stream"],
                    body: Data(
                        "retry: 1000\n\nid: a1\nevent: snapshot\ndata: {\"eventKey\":\"derby\",\"state\":\"live\",\"broadcasts\":[]}\n\n"
                            .utf8))
            }, { throw URLError(.networkConnectionLost) }, { .problem(503, "stream-unavailable") },
            { .init(status: 200, body: Data("id: a2\nevent: state\ndata: {\"state\":\"ended\"}\n\n".utf8)) },
            { .init(status: 200, body: Data("event: fireworks\ndata: {}\n\n".utf8)) },
            { .problem(404, "event-not-found") },
        ])
        var updates: [GrandstandClient.EventUpdate] = []
        let connections = Mutex<[String]>([])
        let stream = GrandstandClient.test(transport, held).stream("derby") { connection in
            switch connection {
            case .open: connections.withLock { $0.append("open") }
            case .lost(let error): connections.withLock { $0.append(error is URLError ? "silence" : "refused") }
            }
        }
        let problem = await #expect(throws: ServerProblem.self) {
            for try await update in stream { updates.append(update) }
        }
        #expect(connections.withLock { $0 } == ["open", "silence", "refused", "open", "open"])
        #expect(problem?.kind == .eventNotFound)
        #expect(updates.map(\.id) == ["a1", "a2", nil])
        guard case .snapshot(let board)? = updates.first?.content else {
            Issue.record("the first update is no snapshot")
            return
        }
        #expect(board.state == .live)
        #expect(updates.dropFirst().map(\.content) == [.state(.ended), .other("fireworks")])
        #expect(
            transport.requests.map { $0.headers["Last-Event-ID"] } == [nil, "a1", "a1", "a1", "a2", "a2"])
        #expect(held.waits.first == 1)
    }
}
