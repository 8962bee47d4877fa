internal import FoundationEssentials
package import Grandstand
package import GrandstandService
internal import HTTPTypes
package import Hummingbird

/// Tells the viewers of a page that what it shows has changed, and not what: they fetch the page again. A goal changes an
/// event several times within moments; a viewer hears of them once in a quarter of a second.
package struct ChangeStream: Sendable {
    private let views: LiveViews
    private let settings: StreamSettings
    private let pause: Duration

    package init(views: LiveViews, settings: StreamSettings = StreamSettings(), pause: Duration = .milliseconds(250)) {
        self.views = views
        self.settings = settings
        self.pause = pause
    }

    /// `change` whenever there is something new, `tick` as a sign of life; both with the tag of what there is now.
    ///
    /// - Parameter isAdmitted: asked before anything is told; the stream ends when it says no.
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

    /// The newest tag only, however slowly it is taken: updates are never held up, so a busy match is no slow reader.
    private static func newest(of updates: AsyncStream<LiveUpdate>, seen: String?) -> AsyncStream<String> {
        let (tags, relay) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(1))
        let relaying = Task {
            var newest = seen
            for await update in updates {
                newest = update.tag ?? newest
                // Within a group of changes the last one has the tag.
                if let newest, update.tag != nil || update.content == .heartbeat { relay.yield(newest) }
            }
            relay.finish()
        }
        relay.onTermination = { _ in relaying.cancel() }
        return tags
    }
}
