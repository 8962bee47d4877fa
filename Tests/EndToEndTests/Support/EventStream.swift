internal import Foundation
internal import GrandstandClient
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A reader of server-sent events. It works like a browser's `EventSource`, but does not reconnect.
final class EventStream: NSObject, URLSessionDataDelegate, Sendable {
    struct Event: Sendable {
        var id: String?
        var name: String
        var data: JSON
    }

    private struct State {
        var text = ""
        var status: Int?
        var contentType: String?
    }

    private let state = Mutex(State())
    private let continuation: AsyncStream<Event>.Continuation
    /// The events that arrive. The stream ends with the connection.
    let events: AsyncStream<Event>
    private let session = Mutex<URLSession?>(nil)

    override init() {
        (events, continuation) = AsyncStream.makeStream()
        super.init()
    }

    /// Opens the stream at `path`. If the answer is not a stream, `events` ends at once.
    static func open(
        _ caller: HTTPCaller, _ path: String, lastEventID: String? = nil, cookie: String? = nil
    ) throws -> EventStream {
        guard let url = URL(string: caller.url + path) else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.timeoutInterval = 120
        if let secret = caller.secret { request.setValue("Bearer \(secret)", forHTTPHeaderField: "Authorization") }
        if let lastEventID { request.setValue(lastEventID, forHTTPHeaderField: "Last-Event-ID") }
        if let cookie { request.setValue(cookie, forHTTPHeaderField: "Cookie") }
        let stream = EventStream()
        let session = URLSession(configuration: .ephemeral, delegate: stream, delegateQueue: nil)
        stream.session.withLock { $0 = session }
        session.dataTask(with: request).resume()
        return stream
    }

    var status: Int? { state.withLock { $0.status } }
    var contentType: String? { state.withLock { $0.contentType } }

    func close() { session.withLock { $0?.invalidateAndCancel() } }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        state.withLock { state in
            state.status = (response as? HTTPURLResponse)?.statusCode
            state.contentType = response.mimeType
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let blocks = state.withLock { state -> [String] in
            state.text += String(decoding: data, as: UTF8.self)
            var parts = state.text.components(separatedBy: "\n\n")
            state.text = parts.removeLast()
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
            if line.hasPrefix("id: ") { event.id = String(line.dropFirst(4)) }
            if line.hasPrefix("event: ") { event.name = String(line.dropFirst(7)) }
            if line.hasPrefix("data: ") {
                event.data = (try? JSONDecoder().decode(JSON.self, from: Data(line.dropFirst(6).utf8))) ?? .null
            }
        }
        return event.name.isEmpty ? nil : event
    }
}
