internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import JSON
internal import Synchronization

/// Lists for apps, and the bodies of those that were asked for lately: phones ask the same few questions by the thousand.
///
/// A body is answered again until something that it may say has changed. While others change it all the time it is made
/// anew for a tenth of the time at most; a change of this process's own is in the next answer.
final class LookupLists: Sendable {
    /// A body with the versions it was made of.
    private struct Page {
        let app: App
        let query: LookupListQuery
        let body: LookupBody
        let version: Int
        /// Of the index that it was made of.
        let generation: Int
        /// When the clock alone may change it.
        let changesAt: Date?
        /// How many changes this process had made.
        let ownChanges: Int
        /// Until then a change of another process may be missing.
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
        /// The size of the bodies, with their keys.
        var bytes = 0
        /// How often everything was replaced.
        var generation = 0
    }

    /// Bytes of bodies that are kept; then all are made anew: a client with an app's key can ask any number of
    /// questions.
    private static let capacity = 32 * 1_024 * 1_024
    /// A page that others change all the time rests so many times as long as it took to make.
    private static let rest = 10

    private let state = Mutex(State())

    // MARK: Keeping up

    /// The event has these records now; none: it is gone.
    func put(_ key: EventKey, _ records: [LookupRecord]) {
        state.withLock { Self.put(key, records, into: &$0.indexes) }
    }

    /// Takes the place of all that was there.
    func replace(with indexes: [App: LookupIndex]) {
        var indexes = indexes
        var pages: [String: Page] = [:]
        // The memory of the replaced value is freed after the lock.
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
        // The keys by themselves: a view of them would hold the dictionary, and each change would copy an app's whole index.
        for app in Array(indexes.keys) { indexes[app]?.put(key, byApp[app] ?? []) }
    }

    private static func byApp(_ records: [LookupRecord]) -> [App: [LookupRecord]] {
        Dictionary(grouping: records) { App(topic: $0.topic, environment: $0.environment) }
    }

    // MARK: Asking

    /// The answer to a question that was asked before, if that is still known.
    ///
    /// - Parameters:
    ///   - name: the question as it was asked.
    ///   - ownChanges: how many changes this process has made, all of which were read.
    func known(_ name: String, ownChanges: Int, now: Date) -> LookupBody? {
        state.withLock { state in
            guard let page = state.pages[name], page.changesAt.map({ $0 > now }) ?? true else { return nil }
            if page.version == state.indexes[page.app]?.version(of: page.query.topic) ?? 0 { return page.body }
            return page.ownChanges == ownChanges && page.restsUntil > .now ? page.body : nil
        }
    }

    /// The answer to a question, made anew where it is not known.
    ///
    /// - Parameter isKept: whether the answer holds what this process changed, and may be given again.
    func body(
        _ name: String, _ app: App, _ query: LookupListQuery, ownChanges: Int, isKept: Bool = true, now: Date
    ) -> LookupBody {
        if isKept, let known = known(name, ownChanges: ownChanges, now: now) { return known }
        let began = ContinuousClock.now
        let (part, version, generation) = state.withLock { state -> (LookupIndex.Part, Int, Int) in
            guard let index = state.indexes[app] else { return (LookupIndex.Part(items: []), 0, state.generation) }
            return (index.part(query, now: now), index.version(of: query.topic), state.generation)
        }
        let body = LookupBody(JSONWriter.text(LookupList(part: part, now: now)))
        guard isKept else { return body }
        let end = ContinuousClock.now
        let page = Page(
            app: app, query: query, body: body, version: version, generation: generation, changesAt: part.changesAt,
            ownChanges: ownChanges,
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
