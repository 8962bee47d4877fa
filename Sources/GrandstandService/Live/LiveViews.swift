package import FoundationEssentials
package import Grandstand
package import GrandstandStore
package import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Live views of events. One read of the database serves all streams of this process.
///
/// While an event has viewers, it is read twice a second; without viewers nothing is read. The number of streams is
/// limited, and so is the number of updates that wait for a reader. The stream of a reader that is too slow is ended.
package final class LiveViews: Service {
    package struct Settings: Sendable {
        /// The maximum number of streams in this process.
        package var maximumStreams: Int
        /// The maximum number of streams of one key, so that no key takes all streams.
        package var maximumPerKey: Int
        /// The maximum number of updates that may wait for a reader.
        package var buffer = 64
        /// The shortest time between two reads, so that views that are opened together are read together.
        package var pause: Duration = .milliseconds(20)
        /// The time between two reads of all events with viewers.
        package var interval: Duration = .milliseconds(500)
        /// The time between two heartbeats.
        package var heartbeat: Duration = .seconds(10)

        package init(maximumStreams: Int, maximumPerKey: Int) {
            self.maximumStreams = maximumStreams
            self.maximumPerKey = maximumPerKey
        }
    }

    private let store: PostgresLiveStore
    private let settings: Settings
    private let now: @Sendable () -> Date
    private let logger: Logger
    private let readers: Mutex<LiveReaders>
    private let doorbell = Doorbell()
    private let readAll = Mutex(ContinuousClock.now)

    package init(
        store: PostgresLiveStore, settings: Settings, now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.store = store
        self.settings = settings
        self.now = now
        self.logger = logger
        readers = Mutex(
            LiveReaders(maximum: settings.maximumStreams, maximumPerKey: settings.maximumPerKey))
    }

    /// Opens a view. The stream sends a snapshot, unless the reader already has it, and after the snapshot the changes.
    /// The stream ends when the server stops or the reader is too slow. After this, the reader may open the view again.
    ///
    /// The stream also ends when the reader may no longer see the event.
    ///
    /// - Parameters:
    ///   - seen: the tag of the last update the reader has.
    ///   - reader: the key of the reader.
    /// - Throws: `stream-unavailable`; `rate-limited` if the reader's key has its maximum number of streams.
    package func open(_ subject: LiveSubject, seen: String?, for reader: APIKey) throws(Problem) -> LiveView {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LiveUpdate.self, bufferingPolicy: .bufferingOldest(settings.buffer))
        let id = UUID()
        continuation.onTermination = { [weak self] _ in
            self?.readers.withLock { $0.remove(id, from: subject) }
            self?.doorbell.ring()
        }
        let member = LiveReaders.Member(id: id, reader: reader.id, seen: seen, continuation)
        switch readers.withLock({ $0.add(member, to: subject) }) {
        case nil: break
        case .keyHasAll:
            throw Problem(
                .rateLimited,
                "The key \(reader.name) has \(settings.maximumPerKey) streams open here, as many as one key may have. "
                    + "Close one, use another key, or raise GRANDSTAND_STREAMS_PER_KEY.",
                members: [.limit(settings.maximumPerKey)], retryAfter: 2)
        case .full:
            throw Problem(
                .streamUnavailable,
                "This server has \(settings.maximumStreams) streams open, or is stopping. Try again.", retryAfter: 2)
        }
        doorbell.ring()
        return LiveView(updates: stream, close: { continuation.finish() })
    }

    /// The number of open streams.
    package var count: Int { readers.withLock { $0.count } }

    package func run() async {
        let reading = WorkLoop<Never>(
            .init(rest: settings.pause, pollInterval: .seconds(3_600), retry: settings.interval),
            failure: "live views could not be read", logger: logger, now: now, doorbell: doorbell
        ) { [self] in
            try await read()
            return .idle(
                until: readers.withLock { $0.isEmpty } ? nil : now() + settings.interval / .seconds(1))
        }
        let beating = WorkLoop<Never>(
            .init(pollInterval: settings.heartbeat), failure: "", logger: logger, now: now
        ) { [self] in
            for continuation in readers.withLock({ $0.beat() }) { continuation.finish() }
            return .idle()
        }
        await withGracefulShutdownHandler {
            async let beats: Void = beating.run()
            await reading.run()
            await beats
        } onGracefulShutdown: {
            self.end()
        }
        end()
    }

    /// Ends every stream. After this call, no new stream can be opened.
    private func end() {
        for continuation in readers.withLock({ $0.close() }) { continuation.finish() }
    }

    /// Reads the events with new viewers. If `interval` has passed since the last full reading, reads all events with
    /// viewers.
    private func read() async throws {
        let (watched, marked) = readers.withLock { $0.turn() }
        let isFullTurn = readAll.withLock { readAll in
            guard ContinuousClock.now - readAll >= settings.interval else { return false }
            readAll = .now
            return true
        }
        let subjects = isFullTurn ? watched : marked
        let now = now()
        do {
            // Most readers have the same reach (everything), so there is usually only one query.
            for (reach, subjects) in Dictionary(grouping: subjects, by: \.reach) {
                let read = try await store.boards(of: Set(subjects.map(\.key)), within: reach, now: now)
                let boards = Dictionary(
                    uniqueKeysWithValues: subjects.compactMap { subject in read[subject.key].map { (subject, $0) } })
                let gone = reach == .all ? [] : Set(subjects).subtracting(boards.keys)
                for continuation in readers.withLock({ $0.show(boards, gone: gone) }) { continuation.finish() }
            }
        } catch {
            readers.withLock { $0.mark(subjects) }
            throw error
        }
    }
}

/// One reader's open view.
package struct LiveView: Sendable {
    /// The snapshot, the changes and the heartbeats.
    package let updates: AsyncStream<LiveUpdate>
    /// The reader of the stream must call this function at the end.
    package let close: @Sendable () -> Void
}
