internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import JSON
internal import Synchronization

/// The lists of events for apps, with a cache of response bodies, because thousands of phones ask the same few
/// questions.
///
/// A cached body is used until a change may affect the body. If other processes make such changes all the time, at most
/// a tenth of the time is spent on making the body, and the body may be slightly old. A change made in this process is
/// always in the next answer.
final class LookupLists: Sendable {
    /// A cached body, and the versions of the data that the body was made from.
    private struct Page {
        let app: App
        let query: LookupListQuery
        let body: LookupBody
        let version: Int
        /// The value of `State.generation` when the body was made.
        let generation: Int
        /// The time at which the body changes although no event was changed; `nil`: never.
        let changesAt: Date?
        /// The number of this process's last change before the body was made.
        let lastOwnChange: Int
        /// Until this time, a change by another process may be missing from the body.
        let restsUntil: ContinuousClock.Instant
    }

    struct App: Hashable {
        /// The lowercased bundle ID.
        let topic: String
        let environment: APNsEnvironment
    }

    private struct State {
        var indexes: [App: LookupIndex] = [:]
        var pages: [String: Page] = [:]
        /// The number of bytes of all cached bodies and their keys.
        var bytes = 0
        /// How often all indexes were replaced.
        var generation = 0
    }

    /// The maximum number of bytes of cached bodies. When it is exceeded, the cache is emptied. Without a limit, a
    /// client with an app's key could fill the memory with different questions.
    private static let capacity = 32 * 1_024 * 1_024
    /// A body that took a time `t` to make is reused for this many times `t`, even if other processes have changed the
    /// events in the meantime.
    private static let rest = 10

    private let state = Mutex(State())

    // MARK: Keeping up

    /// Sets the records of an event; an empty array removes the event.
    func put(_ key: EventKey, _ records: [LookupRecord]) {
        state.withLock { Self.put(key, records, into: &$0.indexes) }
    }

    func replace(with indexes: [App: LookupIndex]) {
        var indexes = indexes
        var pages: [String: Page] = [:]
        // The memory of the replaced value is freed after the lock is released.
        state.withLock { state in
            swap(&state.indexes, &indexes)
            swap(&state.pages, &pages)
            state.bytes = 0
            state.generation += 1
        }
    }

    static func indexes(of events: [EventKey: [LookupRecord]]) -> [App: LookupIndex] {
        let events = events.reduce(into: [App: [EventKey: [LookupRecord]]]()) { byApp, event in
            for (app, own) in Self.byApp(event.value) { byApp[app, default: [:]][event.key] = own }
        }
        return events.mapValues { LookupIndex($0) }
    }

    static func put(_ key: EventKey, _ records: [LookupRecord], into indexes: inout [App: LookupIndex]) {
        let byApp = byApp(records)
        for app in byApp.keys where indexes[app] == nil { indexes[app] = LookupIndex() }
        // Iterate over a copy of the keys. A view of the keys would retain the dictionary, and each change would then
        // copy the app's whole index.
        for app in Array(indexes.keys) { indexes[app]?.put(key, byApp[app] ?? []) }
    }

    private static func byApp(_ records: [LookupRecord]) -> [App: [LookupRecord]] {
        Dictionary(grouping: records) { App(topic: $0.topic, environment: $0.environment) }
    }

    // MARK: Asking

    /// The cached answer to the question; `nil`: no answer is cached, or the answer may have changed.
    ///
    /// - Parameters:
    ///   - name: the question's URI.
    ///   - lastOwnChange: the number of this process's last change. The changed events have already been read again.
    func known(_ name: String, lastOwnChange: Int, now: Date) -> LookupBody? {
        state.withLock { state in
            guard let page = state.pages[name], page.changesAt.map({ $0 > now }) ?? true else { return nil }
            if page.version == state.indexes[page.app]?.version(of: page.query.topic) ?? 0 { return page.body }
            return page.lastOwnChange == lastOwnChange && page.restsUntil > .now ? page.body : nil
        }
    }

    /// The answer to the question, from the cache or newly made.
    ///
    /// - Parameter isKept: whether the answer contains all changes of this process, so that it may be cached.
    func body(
        _ name: String, _ app: App, _ query: LookupListQuery, lastOwnChange: Int, isKept: Bool = true, now: Date
    ) -> LookupBody {
        if isKept, let known = known(name, lastOwnChange: lastOwnChange, now: now) { return known }
        let began = ContinuousClock.now
        let (part, version, generation) = state.withLock { state -> (LookupIndex.Part, Int, Int) in
            guard let index = state.indexes[app] else { return (LookupIndex.Part(items: []), 0, state.generation) }
            return (index.part(query, now: now), index.version(of: query.topic), state.generation)
        }
        let body = LookupBody(JSONWriter.text(Contract.FollowablePage(part, now: now)))
        guard isKept else { return body }
        let end = ContinuousClock.now
        let page = Page(
            app: app, query: query, body: body, version: version, generation: generation, changesAt: part.changesAt,
            lastOwnChange: lastOwnChange,
            restsUntil: end + (end - began) * Self.rest)
        state.withLock { state in
            guard state.generation == generation else { return }
            let size = body.bytes.count + name.utf8.count
            if state.bytes + size > Self.capacity {
                state.pages.removeAll(keepingCapacity: true)
                state.bytes = 0
            }
            if let old = state.pages.updateValue(page, forKey: name) {
                state.bytes -= old.body.bytes.count + name.utf8.count
            }
            state.bytes += size
        }
        return body
    }
}
