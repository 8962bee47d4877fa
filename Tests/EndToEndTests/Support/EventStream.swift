internal import Foundation
internal import GrandstandClient
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A reader of server-sent events. It works like a browser's `EventSource`, but does not reconnect.
final class EventStream: NSObject, URLSessionDataDelegate, Sendable {
    struct Event: Sendable {
        var name: String
        var data: JSON
    }

    private let text = Mutex("")
    private let continuation: AsyncStream<Event>.Continuation
    /// The events that arrive. The stream ends with the connection.
    let events: AsyncStream<Event>
    private let session = Mutex<URLSession?>(nil)

    override init() {
        (events, continuation) = AsyncStream.makeStream()
        super.init()
    }

    /// Opens the stream at `path`. If the answer is not a stream, `events` ends at once.
    static func open(_ caller: HTTPCaller, _ path: String) throws -> EventStream {
        guard let url = URL(string: caller.url + path) else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.timeoutInterval = 120
        if let secret = caller.secret { request.setValue("Bearer \(secret)", forHTTPHeaderField: "Authorization") }
        let stream = EventStream()
        let session = URLSession(configuration: .ephemeral, delegate: stream, delegateQueue: nil)
        stream.session.withLock { $0 = session }
        session.dataTask(with: request).resume()
        return stream
    }

    func close() { session.withLock { $0?.invalidateAndCancel() } }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let blocks = text.withLock { text -> [String] in
            text += String(decoding: data, as: UTF8.self)
            var parts = text.components(separatedBy: "\n\n")
            text = parts.removeLast()
            return parts
        }
        for event in blocks.compactMap(Self.event) { continuation.yield(event) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        continuation.finish()
        session.finishTasksAndInvalidate()
    }

    private static func event(_ block: String) -> Event? {
        var event = Event(name: "", data: .null)
        for line in block.split(separator: "\n") {
            if line.hasPrefix("event: ") { event.name = String(line.dropFirst(7)) }
            if line.hasPrefix("data: ") {
                event.data = (try? JSONDecoder().decode(JSON.self, from: Data(line.dropFirst(6).utf8))) ?? .null
            }
        }
        return event.name.isEmpty ? nil : event
    }
}
