internal import FoundationEssentials
internal import Grandstand
internal import JSON
internal import Postgres
internal import Synchronization

/// This process's copy of what lookups are answered from: a dictionary of events.
///
/// `refresh` keeps it up to date: on NOTIFY, each half second, and when a request asks for what this process has changed
/// or what memory does not have. While the database is away, answers are given from this copy with their age, for a
/// limited time.
final class LookupReplica: Sendable {
    struct Settings: Sendable {
        /// Seconds for which answers are given although the database does not confirm them.
        var staleLimit: TimeInterval = 600
        /// How long a request waits for a refresh.
        var patience = Duration.seconds(2)
    }

    /// What memory says about a name.
    struct Reply: Sendable {
        var answer: Result<LookupBody, Problem>
        /// Seconds since the database confirmed the answer; 0: it is current.
        var age = 0
        /// Whether a refresh may give another answer: memory lacks a change of this process, has no channel, or has not
        /// been confirmed for too long.
        var deservesRefresh = true

        /// Why the answer names no channel.
        var problem: Problem? { if case .failure(let problem) = answer { problem } else { nil } }

        /// Whether the event has a channel, or is over.
        var isSettled: Bool { problem.map { $0.kind == .eventEnded } ?? true }
    }

    struct State {
        /// The dictionary is changed in place under the lock: if a copy were kept, the next change would copy all of it.
        var entries: [EventKey: LookupEvent] = [:]
        /// Events that this process has changed and no refresh has read since, each with the number of its change.
        var unreadChanges: [EventKey: Int] = [:]
        var changeCount = 0
        /// The journal's position at the last refresh; `nil`: the next refresh reads everything.
        var position: String?
        var readAt = ContinuousClock.now
        /// Whether the journal may lack changes, so that everything must be read.
        var needsAll = false
        /// When the database last confirmed that memory is up to date.
        var confirmedAt: Date?
        /// The bodies of list pages, by the URI that asked for them, and when they are too old to be used. They lack no
        /// change of this process.
        var pages: [String: LookupBody] = [:]
        var pagesUntil = ContinuousClock.now
    }

    let store: LookupStore
    let settings: Settings
    /// The API keys in memory. They learn of changes from the same journal.
    let keys: KeyStore?
    let now: @Sendable () -> Date
    let state = Mutex(State())
    private let refreshes: SingleFlight

    init(
        store: LookupStore, keys: KeyStore? = nil, settings: Settings = Settings(), now: @escaping @Sendable () -> Date
    ) {
        (self.store, self.keys, self.settings, self.now) = (store, keys, settings, now)
        // A single change is read at once; those that follow closely are read together. So even a thousand changes a
        // second cause only fifty refreshes.
        refreshes = SingleFlight { _ in .milliseconds(20) }
    }

    // MARK: Keeping up

    /// Makes the next refresh read everything: after a lost connection the journal may be another server's.
    func distrust() { state.withLock { $0.needsAll = true } }

    /// Must be called after a transaction of this process has changed `subjects`, and before the caller of the
    /// transaction is answered. Memory gives no answers about these events until they have been read again.
    func changed(_ subjects: [String]) {
        state.withLock { state in
            state.changeCount += 1
            for key in subjects.compactMap(LookupStore.event) { state.unreadChanges[key] = state.changeCount }
            state.pages = [:]
        }
    }

    /// Brings memory up to date with everything that was committed before the call. One refresh runs at a time; callers
    /// that come during it share the next one. It goes on for long, unless the database answers nobody.
    func refresh() async throws {
        try await PostgresTimeLimit.$current.withValue(.forRequest(settings.patience).long) {
            try await refreshes.run { try await self.readChanges() }
        }
    }

    /// Reads the journal since the last refresh, reads the events that it names, and puts them into the dictionary.
    private func readChanges() async throws {
        let moment = now()
        let (position, read) = state.withLock { state in
            if state.needsAll || state.readAt + .seconds(LookupStore.journalSeconds / 2) < .now { state.position = nil }
            state.needsAll = false
            return (state.position, state.changeCount)
        }
        let (subjects, end) = try await store.changes(since: position ?? LookupStore.journalEnd)
        if subjects.contains("keys") { keys?.reloadSoon() }
        var keys = Set(subjects.compactMap(LookupStore.event))
        // The events in memory are read, too, so that those that were deleted are forgotten.
        if position == nil || subjects.contains("events") {
            keys = Set(state.withLock { $0.entries.keys }).union(try await store.eventKeys())
        }
        // All events at once would take several times the memory that they take afterwards.
        var rest = Array(keys)[...]
        while !rest.isEmpty {
            let page = Array(rest.prefix(1_000))
            rest = rest.dropFirst(page.count)
            let records = try await PostgresTimeLimit.renewing { try await store.records(of: page) }
            for key in page { put(key, records[key] ?? []) }
        }
        state.withLock { state in
            (state.position, state.readAt) = (end, .now)
            state.unreadChanges = state.unreadChanges.filter { $0.value > read }
            if !state.needsAll { state.confirmedAt = moment }
        }
    }

    /// Records that did not change are not replaced, so that their bodies are kept.
    func put(_ key: EventKey, _ records: [LookupRecord]) {
        state.withLock { state in
            guard state.entries[key]?.records ?? [] != records else { return }
            state.entries[key] = records.isEmpty ? nil : LookupEvent(records)
        }
    }

    // MARK: Asking

    /// The answer from memory, if it has the channel and no change of this process is missing from it.
    func known(_ name: LookupKey) -> (body: LookupBody, age: Int)? {
        let reply = reply(to: name)
        guard !reply.deservesRefresh, case .success(let body) = reply.answer else { return nil }
        return (body, reply.age)
    }

    /// The answers from memory. If a refresh may give other ones, it is made first. So a new channel is found at once,
    /// and this process's changes are always in the answers, unless the database cannot be read.
    func answers(to names: [LookupKey]) async -> [Reply] {
        let replies = names.map { reply(to: $0) }
        guard replies.contains(where: \.deservesRefresh) else { return replies }
        let isRead = await refreshInTime()
        return names.map { reply(to: $0, afterReading: isRead) }
    }

    /// - Parameter isRead: whether everything was read that was changed before the question; `nil`: it was not tried.
    private func reply(to name: LookupKey, afterReading isRead: Bool? = nil) -> Reply {
        let now = now()
        return state.withLock { state in
            let isBehind = isRead != true && state.unreadChanges[name.key] != nil
            guard let age = self.age(state.confirmedAt, now, isBehind) else {
                return Reply(answer: .failure(Self.unavailable))
            }
            let answer = state.entries[name.key]?.answer(to: name, now: now)
            var reply = Reply(answer: answer ?? .failure(name.notFound()), age: age)
            reply.deservesRefresh = isBehind || age == 0 && !reply.isSettled
            // Only memory that the database has confirmed knows that an event does not exist.
            if reply.problem?.kind == .eventNotFound, isRead == false || age > 0 {
                (reply.answer, reply.age) = (.failure(Self.unavailable), 0)
            }
            return reply
        }
    }

    /// The answer from memory, with the newest content.
    func answer(to name: LookupKey, with contents: LookupContents) async throws -> Result<LookupBody, Problem> {
        guard var entry = state.withLock({ $0.entries[name.key] }), let lane = entry.record(of: name)?.lane else {
            return .failure(name.notFound())
        }
        return entry.answer(to: name, with: try await contents.run(lane), now: now())
    }

    /// Waits for a refresh for a limited time. The refresh goes on.
    private func refreshInTime() async -> Bool {
        let (ends, end) = AsyncStream.makeStream(of: Bool.self)
        Task { end.yield((try? await refresh()) != nil) }
        let timer = Task { [settings] in
            try await Task.sleep(for: settings.patience)
            end.yield(false)
        }
        defer { timer.cancel() }
        return await ends.first { _ in true } ?? false
    }

    // MARK: Lists of the events that an app may offer to follow

    /// The body of the list page that was made for `uri` in the last second; `nil` if there is none.
    func knownPage(_ uri: String) -> (body: LookupBody, age: Int)? {
        let now = now()
        return state.withLock { state in
            guard state.pagesUntil > .now, let body = state.pages[uri], let age = self.age(state.confirmedAt, now)
            else {
                return nil
            }
            return (body, age)
        }
    }

    /// The maximum number of bodies that are kept. Without a limit, a client with an app's key could fill the memory
    /// with different questions.
    private static let maxPages = 500

    /// The page of a list, with all changes that this process made before. If these changes could not be read in time,
    /// the answer counts as stale.
    ///
    /// - Parameter uri: the query's URI, under which the body is kept for `knownPage`.
    /// - Throws: `store-unavailable` if memory is empty or too old.
    func page(_ query: LookupListQuery, of app: AppEnvironment, uri: String) async throws -> (
        body: LookupBody, age: Int
    ) {
        if let known = knownPage(uri) { return known }
        let mustRead = state.withLock { !$0.unreadChanges.isEmpty || $0.confirmedAt == nil }
        let isBehind = mustRead ? await !refreshInTime() : false
        let now = now()
        let (age, events, changes) = state.withLock { state in
            (
                self.age(state.confirmedAt, now, isBehind), state.entries.values.map(\.records),
                state.unreadChanges.isEmpty ? state.changeCount : nil
            )
        }
        guard let age else { throw Self.unavailable }
        let body = LookupBody(JSONWriter.text(query.page(of: events, for: app, now: now)))
        state.withLock { state in
            guard state.changeCount == changes else { return }
            if state.pagesUntil <= .now || state.pages.count >= Self.maxPages {
                (state.pages, state.pagesUntil) = ([:], .now + .seconds(1))
            }
            state.pages[uri] = body
        }
        return (body, age)
    }

    // MARK: Age

    /// Seconds since the database last confirmed memory; `nil`: the database never confirmed memory.
    var staleness: TimeInterval? { state.withLock(\.confirmedAt).map { max(0, now().timeIntervalSince($0)) } }

    /// Seconds without confirmation after which answers contain their age. This time is longer than the half
    /// second between refreshes, so a check that is slightly late does not make answers stale.
    private static let freshFor: TimeInterval = 2

    /// The age of an answer; 0: it is current. `nil`: nothing has been read yet, or memory is too old.
    ///
    /// - Parameter isBehind: whether the answer lacks a change of this process. Then it counts as stale.
    private func age(_ confirmedAt: Date?, _ now: Date, _ isBehind: Bool = false) -> Int? {
        guard let confirmedAt else { return nil }
        let age = now.timeIntervalSince(confirmedAt)
        if age > settings.staleLimit { return nil }
        return age <= Self.freshFor && !isBehind ? 0 : Int(max(age, Self.freshFor))
    }

    /// The database cannot be asked, and memory has no answer either.
    static let unavailable = Problem(
        .storeUnavailable,
        "The database cannot be asked now, and this server does not have the answer in memory. Try again in a moment, or "
            + "another server; `grandstand doctor` shows what is wrong with the database.", retryAfter: 1)
}
