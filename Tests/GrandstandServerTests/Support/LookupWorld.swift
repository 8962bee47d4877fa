internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// A replica's lookup cache on a database that the test simulates.
enum LookupWorld {
    static let topic = "com.example.goal"

    /// A source whose records differ only in their channel IDs. The test sends its announcements.
    final class FakeSource: LookupSource {
        struct State {
            var channelIDs: [EventKey: String] = [:]
            /// The changes, in the order of their versions. A position in the journal is the number of changes before
            /// it.
            var journal: [LookupChange] = []
            var fails = false
            /// How often single events were read.
            var reads = 0
            /// The valve at which readings of single events wait; `nil`: they do not wait.
            var reading: Valve?
        }

        let state = Mutex(State())
        let stream = AsyncStream.makeStream(of: LookupAnnouncement.self)
        /// One element for each reading of the journal: whether it failed.
        let looks = AsyncStream.makeStream(of: Bool.self)
        /// The gate at which each page waits; `nil`: pages do not wait.
        let pages: Gate?

        init(pages: Gate? = nil) { self.pages = pages }

        func announcements() -> AsyncStream<LookupAnnouncement> { stream.stream }

        func position() async throws -> LookupPosition {
            try state.withLock { state in
                if state.fails { throw Problem(.storeUnavailable, "down") }
                return LookupPosition(text: "\(state.journal.count)", floor: UInt64(state.journal.count))
            }
        }

        func changes(
            since position: LookupPosition
        ) async throws -> (changes: [LookupChange], position: LookupPosition) {
            let (journal, fails) = state.withLock { ($0.journal, $0.fails) }
            looks.continuation.yield(fails)
            if fails { throw Problem(.storeUnavailable, "down") }
            return (
                Array(journal.dropFirst(Int(position.text) ?? 0)),
                LookupPosition(text: "\(journal.count)", floor: UInt64(journal.count))
            )
        }

        func tidy() async throws {}

        /// Changes the event without an announcement.
        func change(to channelID: String) {
            state.withLock { $0.channelIDs[LookupWorld.key("derby")] = channelID }
        }

        /// Changes the event and records it in the journal. If `announced`, the change is also announced.
        func put(_ channelID: String?, announced: Bool = true) {
            let key = LookupWorld.key("derby")
            let change = state.withLock { state in
                state.channelIDs[key] = channelID
                let change = LookupChange(version: UInt64(state.journal.count + 1), subject: .event(key))
                state.journal.append(change)
                return change
            }
            if announced { stream.continuation.yield(.change(change)) }
        }

        func records(of keys: [EventKey]) async throws -> [EventKey: [LookupRecord]] {
            await state.withLock { $0.reading }?.pass()
            let state = state.withLock { state in
                state.reads += 1
                return state
            }
            if state.fails { throw Problem(.storeUnavailable, "down") }
            return state.channelIDs.filter { keys.contains($0.key) }.mapValues { [Self.record($0)] }
        }

        func page(after: EventKey?, limit: Int) async throws -> (records: [EventKey: [LookupRecord]], next: EventKey?) {
            guard after == nil else { return ([:], nil) }
            let ids = state.withLock { $0.channelIDs }
            await pages?.pass()
            return (ids.mapValues { [Self.record($0)] }, ids.keys.first)
        }

        private static func record(_ channelID: String) -> LookupRecord {
            LookupRecord(
                topic: LookupWorld.topic, environment: .production, storagePolicy: .noMessageStored,
                channelID: channelID)
        }
    }

    /// Suspends callers. Each element that the test sends to `passes` lets one of them continue.
    final class Gate: Sendable {
        let arrivals = AsyncStream.makeStream(of: Void.self)
        let passes = AsyncStream.makeStream(of: Void.self)

        func pass() async {
            arrivals.continuation.yield()
            var iterator = passes.stream.makeAsyncIterator()
            await iterator.next()
        }
    }

    final class Clock: Sendable {
        private let date = Mutex(Date(timeIntervalSince1970: 1_700_000_000))
        var now: Date { date.withLock { $0 } }
        func advance(by seconds: Double) { date.withLock { $0 = $0.addingTimeInterval(seconds) } }
    }

    static func withReplica(
        _ source: FakeSource = FakeSource(), settings given: LookupReplica.Settings? = nil,
        logger: Logger = LoopSample.logger,
        _ body: (LookupReplica, FakeSource, Clock) async throws -> Void
    ) async throws {
        let clock = Clock()
        var settings = LookupReplica.Settings()
        settings.interval = .milliseconds(10)
        let replica = LookupReplica(
            source: source, settings: given ?? settings, now: { clock.now }, logger: logger)
        source.state.withLock { $0.channelIDs[Self.key("derby")] = "one" }
        let running = Task { await replica.run() }
        source.stream.continuation.yield(.listening)
        do {
            try await body(replica, source, clock)
        } catch {
            running.cancel()
            throw error
        }
        running.cancel()
        await running.value
    }

    static func key(_ text: String) -> EventKey {
        guard let key = EventKey(rawValue: text) else { preconditionFailure("not a key") }
        return key
    }

    /// Waits until the cache has this channel ID for the event.
    static func expect(_ channelID: String?, of replica: LookupReplica) async {
        while channelIDKnown(replica) != channelID { await Task.yield() }
    }

    static func known(_ replica: LookupReplica) -> (answer: LookupAnswer, freshness: LookupReplica.Freshness)? {
        replica.known(topic: Self.topic, in: .production, Self.key("derby"))
    }

    static func ask(
        _ replica: LookupReplica, _ key: String = "derby"
    ) async throws -> (answer: LookupAnswer?, freshness: LookupReplica.Freshness) {
        try await replica.answer(topic: topic, in: .production, Self.key(key))
    }

    static func channelIDKnown(_ replica: LookupReplica) -> String? {
        Self.channelID(known(replica)?.answer)
    }

    static func channelID(_ answer: LookupAnswer?) -> String? {
        guard case .found(let body)? = answer else { return nil }
        let text = String(decoding: body.bytes, as: UTF8.self)
        return text.split(separator: "\"channelId\":\"").last?.split(separator: "\"").first.map(String.init)
    }
}
