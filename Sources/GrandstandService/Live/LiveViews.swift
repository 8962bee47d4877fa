package import FoundationEssentials
package import Grandstand
package import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Live views of events, fanned out: one read of the database serves every stream of this process.
///
/// While somebody looks, what is looked at is read twice a second; otherwise nothing is. Streams are bounded in number, and
/// each in what waits for its reader: one that does not keep up is ended.
package final class LiveViews: Service {
    package struct Settings: Sendable {
        /// Streams of this process.
        package var maximumStreams: Int
        /// Of these, of one key: no key takes all.
        package var maximumPerKey: Int
        /// Updates that may wait for a reader.
        package var buffer = 64
        /// The shortest time between two reads, so that views that are opened together are read together.
        package var pause: Duration = .milliseconds(20)
        /// Between two reads of everything that is looked at.
        package var interval: Duration = .milliseconds(500)
        /// Between two signs of life.
        package var heartbeat: Duration = .seconds(10)

        package init(maximumStreams: Int, maximumPerKey: Int) {
            self.maximumStreams = maximumStreams
            self.maximumPerKey = maximumPerKey
        }
    }

    private let store: any LiveStore
    private let settings: Settings
    private let now: @Sendable () -> Date
    private let logger: Logger
    private let audience: Mutex<LiveAudience>
    private let doorbell = Doorbell()
    private let readAll = Mutex(ContinuousClock.now)

    package init(
        store: any LiveStore, settings: Settings, now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.store = store
        self.settings = settings
        self.now = now
        self.logger = logger
        audience = Mutex(
            LiveAudience(maximum: settings.maximumStreams, maximumPerKey: settings.maximumPerKey))
    }

    /// Begins a view: a snapshot, unless the reader has it, then changes. The stream ends when the server stops, and when
    /// its reader is too slow; it is to be opened again then.
    ///
    /// It ends, too, when the event is out of the reader's reach.
    ///
    /// - Parameters:
    ///   - seen: the tag of the last update the reader has.
    ///   - reader: the key that asks.
    /// - Throws: `stream-unavailable`; `rate-limited` when the reader's key has as many as it may.
    package func open(_ subject: LiveSubject, seen: String?, for reader: APIKey) throws(Problem) -> LiveView {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LiveUpdate.self, bufferingPolicy: .bufferingOldest(settings.buffer))
        let id = UUID()
        continuation.onTermination = { [weak self] _ in
            self?.audience.withLock { $0.remove(id, from: subject) }
            self?.doorbell.ring()
        }
        let member = LiveAudience.Member(id: id, reader: reader.id, seen: seen, continuation)
        switch audience.withLock({ $0.add(member, to: subject) }) {
        case nil: break
        case .keyHasAll:
            throw Problem(
                .rateLimited,
                "The key \(reader.name) has \(settings.maximumPerKey) streams open here, as many as one key may have. "
                    + "Close one, use another key, or raise GRANDSTAND_STREAMS_PER_KEY.",
                members: [("limit", .integer(settings.maximumPerKey))], retryAfter: 2)
        case .full:
            throw Problem(
                .streamUnavailable,
                "This server has \(settings.maximumStreams) streams open, or is stopping. Try again.", retryAfter: 2)
        }
        doorbell.ring()
        return LiveView(updates: stream, close: { continuation.finish() })
    }

    /// How many streams are open.
    package var count: Int { audience.withLock { $0.count } }

    package func run() async {
        let reading = WorkLoop<Never>(
            .init(rest: settings.pause, pollInterval: .seconds(3_600), retry: settings.interval),
            failure: "live views could not be read", logger: logger, now: now, doorbell: doorbell
        ) { [self] in
            try await read()
            return .idle(
                until: audience.withLock { $0.isEmpty } ? nil : now() + settings.interval / .seconds(1))
        }
        let beating = WorkLoop<Never>(
            .init(pollInterval: settings.heartbeat), failure: "", logger: logger, now: now
        ) { [self] in
            for continuation in audience.withLock({ $0.beat() }) { continuation.finish() }
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

    /// Ends every stream; no other is opened.
    private func end() {
        for continuation in audience.withLock({ $0.close() }) { continuation.finish() }
    }

    /// Reads what has new viewers, and everything that is looked at when its time has come.
    private func read() async throws {
        let (watched, marked) = audience.withLock { $0.turn() }
        let isFullTurn = readAll.withLock { readAll in
            guard ContinuousClock.now - readAll >= settings.interval else { return false }
            readAll = .now
            return true
        }
        let subjects = isFullTurn ? watched : marked
        let now = now()
        do {
            // Most readers reach everything, so this is one query mostly.
            for (reach, subjects) in Dictionary(grouping: subjects, by: \.reach) {
                let read = try await store.boards(of: Set(subjects.map(\.key)), within: reach, now: now)
                let boards = Dictionary(
                    uniqueKeysWithValues: subjects.compactMap { subject in read[subject.key].map { (subject, $0) } })
                let gone = reach == .all ? [] : Set(subjects).subtracting(boards.keys)
                for continuation in audience.withLock({ $0.show(boards, gone: gone) }) { continuation.finish() }
            }
        } catch {
            audience.withLock { $0.mark(subjects) }
            throw error
        }
    }
}

/// One reader's view.
package struct LiveView: Sendable {
    /// The snapshot, changes, signs of life.
    package let updates: AsyncStream<LiveUpdate>
    /// The reader is gone.
    package let close: @Sendable () -> Void
}
