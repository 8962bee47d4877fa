internal import FoundationEssentials
package import Grandstand
package import GrandstandService
internal import HTTPTypes
package import Hummingbird

/// Tells the viewers of a page that its content has changed; they then fetch the page again. One goal changes an event
/// several times within moments, so a viewer gets at most four messages a second.
package struct ChangeStream: Sendable {
    private let views: LiveViews
    private let settings: StreamSettings
    private let pause: Duration

    package init(views: LiveViews, settings: StreamSettings = StreamSettings(), pause: Duration = .milliseconds(250)) {
        self.views = views
        self.settings = settings
        self.pause = pause
    }

    /// The stream sends `change` when something has changed, and otherwise `tick` as a heartbeat. Both carry the newest
    /// tag.
    ///
    /// - Parameter isAdmitted: called before every message; the stream ends when it returns `false`.
    /// - Throws: `stream-unavailable`, `rate-limited`.
    package func response(
        to request: Request, _ subject: LiveSubject, for reader: APIKey,
        while isAdmitted: @escaping @Sendable () async -> Bool
    ) throws(Problem) -> Response {
        guard request.method != .head else { return .eventStream() }
        let seen = request.headers[.lastEventID]
        let view = try views.open(subject, seen: seen, for: reader)
        let tags = Self.newest(of: view.updates, seen: seen)
        return .eventStream(
            ResponseBody { [settings, pause] writer in
                try await request.body.consumeWithInboundCloseHandler { [writer] _ in
                    try await EventStreamWriter(settings: settings).run(to: writer) { put in
                        var told = seen
                        for await tag in tags {
                            guard await isAdmitted() else { return }
                            let name = tag == told ? "tick" : "change"
                            try await put("id: \(tag)\nevent: \(name)\ndata: \"\(tag)\"\n\n")
                            told = tag
                            try await Task.sleep(for: pause)
                        }
                    }
                } onInboundClosed: {
                    view.close()
                }
                view.close()
                try await writer.finish(nil)
            })
    }

    /// Keeps only the newest tag until the writer takes it. The updates are read at once, however slow the writer is.
    /// Otherwise the stream of updates would be ended because its reader is too slow.
    private static func newest(of updates: AsyncStream<LiveUpdate>, seen: String?) -> AsyncStream<String> {
        let (tags, relay) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(1))
        let relaying = Task {
            var newest = seen
            for await update in updates {
                newest = update.tag ?? newest
                // In a group of changes, only the last change has a tag.
                if let newest, update.tag != nil || update.content == .heartbeat { relay.yield(newest) }
            }
            relay.finish()
        }
        relay.onTermination = { _ in relaying.cancel() }
        return tags
    }
}
