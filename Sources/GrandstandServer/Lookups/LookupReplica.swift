internal import FoundationEssentials
internal import Grandstand
internal import JSON
internal import Logging
internal import Postgres
internal import ServiceLifecycle
internal import Synchronization

/// This process's copy of what lookups are answered from: a dictionary of events.
///
/// `refresh` keeps it up to date: on NOTIFY, each half second, and when a request asks for what this process has changed
/// or what memory does not have. While the database is away, answers are given from this copy with their age, for a
/// limited time.
final class LookupReplica: Sendable {
    struct Settings: Sendable {
        /// The time between two refreshes if nothing is announced. They also confirm the copy.
        var interval = Duration.milliseconds(500)
        /// The pause after a refresh. A single change is read at once; those that follow closely are read
        /// together. So even a thousand changes a second cause only fifty refreshes.
        var pace = Duration.milliseconds(20)
        /// Seconds for which answers are given although the database does not confirm them.
        var staleLimit: TimeInterval = 600
        /// The maximum number of events in one query.
        var pageSize = 2_000
        /// How long a request waits for a refresh.
        var patience = Duration.seconds(2)
        /// How long a list is used.
        var listAge = Duration.seconds(1)
    }

    /// How reliable an answer is.
    enum Freshness: Sendable, Hashable {
        case confirmed
        /// The last confirmation was `seconds` ago.
        case stale(seconds: Int)
        /// Nothing has been read yet, or the last confirmation is too old.
        case unknown
    }

    /// What memory says about a name.
    struct Reply: Sendable {
        /// `nil`: there is no such event or, if `freshness` is unknown, memory cannot tell.
        var answer: LookupAnswer?
        var freshness: Freshness
        /// Whether a refresh may give another answer: memory lacks a change of this process, has no channel, or has not
        /// been confirmed for too long.
        var deservesRefresh: Bool
    }

    struct State {
        /// The dictionary is changed in place under the lock: if a copy were kept, the next change would copy all of it.
        var entries: [EventKey: LookupEntry] = [:]
        /// How many refreshes have begun.
        var refreshes = 0
        /// Events that this process has changed and no refresh has read since, with `refreshes` as it was then.
        var unread: [EventKey: Int] = [:]
        /// The journal's position at the last refresh; `nil`: the next refresh reads everything.
        var position: String?
        var readAt = ContinuousClock.now
        /// Whether the journal may lack changes, so that everything must be read.
        var needsAll = false
        /// When the database last confirmed that memory is up to date.
        var confirmedAt: Date?
        var lists: [LookupList.App: LookupList] = [:]
        /// The bodies of pages of lists, by the URI that asked for them.
        var pages: [String: (body: LookupBody, end: ContinuousClock.Instant)] = [:]
        /// How often `lists` was emptied because of a change of this process.
        var edition = 0

        /// Whether memory lacks a change that this process made to the event before `begun` refreshes had begun.
        ///
        /// - Parameter key: `nil`: any event.
        func isUnread(_ key: EventKey?, asOf begun: Int = .max) -> Bool {
            guard let key else { return unread.values.contains { $0 <= begun } }
            return unread[key].map { $0 <= begun } ?? false
        }
    }

    let store: LookupStore
    let settings: Settings
    /// The API keys in memory. They learn of changes from the same journal.
    let keys: KeyStore?
    let now: @Sendable () -> Date
    let state = Mutex(State())
    private let confirming: OutageLog
    private let refreshes: Batch<@Sendable () async throws -> Void, Void>
    /// Rung when there is something to read.
    private let bell = Doorbell()

    init(
        store: LookupStore, keys: KeyStore? = nil,
        settings: Settings = Settings(), now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.store = store
        self.keys = keys
        self.settings = settings
        self.now = now
        refreshes = Batch(limit: .max, leastRest: settings.pace, failsWholeBatch: { _ in true }) { callers in
            try await callers[0]()
            return callers.map { _ in }
        }
        confirming = OutageLog("lookups could not be confirmed; they are answered from memory", logger)
    }

    // MARK: Keeping up

    /// Runs until a graceful stop or a cancellation.
    func run() async {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.listen() }
                await self.keepUp()
            }
        }
    }

    private func listen() async {
        var hasListened = false
        for await notification in store.database.pool.notifications(on: [LookupStore.channel]) {
            if notification == .listening {
                // After a lost connection the journal may be another server's, so everything is read.
                if hasListened { state.withLock { $0.needsAll = true } }
                hasListened = true
            }
            bell.ring()
        }
    }

    /// Refreshes until the task is cancelled.
    func keepUp() async {
        var tidiedAt = ContinuousClock.now
        while !Task.isCancelled {
            do {
                try await refresh()
                confirming.worked()
                if ContinuousClock.now - tidiedAt >= .seconds(LookupStore.journalSeconds / 10) {
                    tidiedAt = .now
                    try await store.tidy()
                }
            } catch {
                confirming.failed(error)
                try? await Task.sleep(for: settings.interval)
                continue
            }
            await bell.wait(atMost: settings.interval)
        }
    }

    /// Must be called after a transaction of this process has changed `subjects`, and before the caller of the
    /// transaction is answered. Memory gives no answers about these events until they have been read again.
    func changed(_ subjects: [LookupStore.Subject]) {
        state.withLock { state in
            for case .event(let key) in subjects { state.unread[key] = state.refreshes }
        }
        bell.ring()
    }

    /// Brings memory up to date with everything that was committed before the call. One refresh runs at a time; callers
    /// that come during it share the next one. It goes on for long, unless the database answers nobody.
    func refresh() async throws {
        try await PostgresTimeLimit.$current.withValue(.request(settings.patience).long) {
            try await refreshes.run { try await self.readChanges() }
        }
    }

    /// Reads the journal since the last refresh, reads the events that it names, and puts them into the dictionary.
    private func readChanges() async throws {
        let moment = now()
        let (position, refresh) = state.withLock { state in
            // The journal may have deleted changes that were not read in time.
            let isLate = state.readAt.duration(to: .now) > .seconds(LookupStore.journalSeconds / 2)
            if state.needsAll || isLate { (state.needsAll, state.position) = (false, nil) }
            state.refreshes += 1
            return (state.position, state.refreshes)
        }
        let (subjects, end) = try await store.changes(since: position ?? LookupStore.newest)
        if subjects.contains(.keys) { keys?.changed() }
        if position == nil || subjects.contains(.everything) {
            try await readAll()
        } else {
            var keys = subjects.compactMap { if case .event(let key) = $0 { key } else { nil } }[...]
            while !keys.isEmpty {
                try await read(Array(keys.prefix(settings.pageSize)))
                keys = keys.dropFirst(settings.pageSize)
            }
        }
        state.withLock { state in
            (state.position, state.readAt) = (end, .now)
            let left = state.unread.filter { $0.value == refresh }
            if left.count < state.unread.count {
                // Other processes' changes may be missing from lists for a second, but this process's may not.
                (state.unread, state.lists, state.pages) = (left, [:], [:])
                state.edition += 1
            }
            if !state.needsAll { state.confirmedAt = moment }
        }
    }

    /// Reads all events, page by page, and forgets those that were deleted.
    private func readAll() async throws {
        var found: Set<EventKey> = []
        var page: [EventKey] = []
        repeat {
            page = try await PostgresTimeLimit.renewing { [after = page.last] in
                let page = try await store.keys(after: after, limit: settings.pageSize)
                try await read(page)
                return page
            }
            found.formUnion(page)
        } while page.count == settings.pageSize
        state.withLock { state in
            for key in Array(state.entries.keys) where !found.contains(key) { state.entries[key] = nil }
        }
    }

    private func read(_ keys: [EventKey]) async throws {
        let records = try await store.records(of: keys)
        for key in keys { put(key, records[key] ?? []) }
    }

    /// Records that did not change are not replaced, so that their bodies are kept.
    func put(_ key: EventKey, _ records: [LookupRecord]) {
        state.withLock { state in
            guard state.entries[key]?.records ?? [] != records else { return }
            state.entries[key] = records.isEmpty ? nil : LookupEntry(records)
        }
    }

    // MARK: Asking

    /// The answer from memory, if it has the channel and no change of this process is missing from it.
    func known(_ name: LookupName) -> (body: LookupBody, freshness: Freshness)? {
        let reply = reply(to: name)
        guard !reply.deservesRefresh, case .found(let body)? = reply.answer else { return nil }
        return (body, reply.freshness)
    }

    /// The answers from memory. If a refresh may give other ones, it is made first. So a new channel is found at once,
    /// and this process's changes are always in the answers, unless the database cannot be read.
    func answers(to names: [LookupName]) async -> [Reply] {
        let replies = names.map { reply(to: $0) }
        guard replies.contains(where: \.deservesRefresh) else { return replies }
        let begun = await catchUp()
        return names.map { name in
            var reply = reply(to: name, asOf: begun ?? .max)
            if begun == nil, reply.answer == nil { reply.freshness = .unknown }
            return reply
        }
    }

    private func reply(to name: LookupName, asOf begun: Int = .max) -> Reply {
        let now = now()
        return state.withLock { state in
            let (isUnread, freshness) = (
                state.isUnread(name.key, asOf: begun), self.freshness(state.confirmedAt, now)
            )
            let answer = freshness == .unknown ? nil : state.entries[name.key]?.answer(to: name, now: now)
            let hasChannel =
                switch answer {
                case .found, .over: true
                case .pending, .noSuchVariant, nil: false
                }
            var reply = Reply(
                answer: answer, freshness: aged(freshness, isUnread),
                deservesRefresh: isUnread || freshness == .unknown || freshness == .confirmed && !hasChannel)
            // Only memory that the database has confirmed knows that an event does not exist.
            if answer == nil, reply.freshness != .confirmed { reply.freshness = .unknown }
            return reply
        }
    }

    /// Refreshes.
    ///
    /// - Returns: how many refreshes had begun before, for `isUnread`; `nil`: the database could not be read.
    private func catchUp() async -> Int? {
        let begun = state.withLock(\.refreshes)
        return await refreshInTime() ? begun : nil
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

    /// The body of the list page that was made for `uri` in the last second; `nil` if there is none, or memory lacks a
    /// change of this process.
    func knownPage(_ uri: String) -> (body: LookupBody, freshness: Freshness)? {
        let now = now()
        return state.withLock { state in
            let freshness = self.freshness(state.confirmedAt, now)
            guard freshness != .unknown, !state.isUnread(nil), let page = state.pages[uri], page.end > .now else {
                return nil
            }
            return (page.body, freshness)
        }
    }

    /// The maximum number of bodies that are kept. Without a limit, a client with an app's key could fill the memory
    /// with different questions.
    private static let pages = 500

    /// The page of a list, with all changes that this process made before. If these changes could not be read in time,
    /// the answer counts as stale.
    ///
    /// - Parameter uri: the query's URI, under which the body is kept for `knownPage`.
    /// - Throws: `store-unavailable` if memory is empty or too old.
    func page(
        _ query: LookupListQuery, of app: LookupList.App, uri: String
    ) async throws -> (body: LookupBody, freshness: Freshness) {
        if let known = knownPage(uri) { return known }
        let mustRead = state.withLock { $0.isUnread(nil) || $0.confirmedAt == nil }
        let begun = mustRead ? await catchUp() : nil
        let now = now()
        let (isUnread, freshness, edition) = state.withLock { state in
            (state.isUnread(nil, asOf: begun ?? .max), self.freshness(state.confirmedAt, now), state.edition)
        }
        guard freshness != .unknown else { throw Self.unread }
        let list = list(of: app)
        let body = LookupBody(JSONWriter.text(list.page(query, now: now)))
        state.withLock { state in
            guard state.edition == edition else { return }
            if state.pages.count >= Self.pages { state.pages = [:] }
            state.pages[uri] = (body, list.end)
        }
        return (body, aged(freshness, isUnread))
    }

    private func list(of app: LookupList.App) -> LookupList {
        let end = ContinuousClock.now + settings.listAge
        let (kept, items, edition) = state.withLock { state -> (LookupList?, [LookupList.Item], Int) in
            if let list = state.lists[app], list.end > .now { return (list, [], 0) }
            return (nil, state.entries.compactMap { LookupList.Item($0, $1.records, of: app) }, state.edition)
        }
        if let kept { return kept }
        let list = LookupList(of: app, items, until: end)
        state.withLock { if $0.edition == edition { $0.lists[app] = list } }
        return list
    }

    // MARK: Freshness

    /// Seconds since the database last confirmed memory; `nil`: the database never confirmed memory.
    var staleness: TimeInterval? {
        state.withLock(\.confirmedAt).map { max(0, now().timeIntervalSince($0)) }
    }

    /// Seconds without confirmation after which answers contain their age. This time is longer than `interval`, so a
    /// check that is slightly late does not make answers stale.
    private static let grace: TimeInterval = 2

    private func freshness(_ confirmedAt: Date?, _ now: Date) -> Freshness {
        guard let confirmedAt else { return .unknown }
        let age = now.timeIntervalSince(confirmedAt)
        if age <= Self.grace { return .confirmed }
        return age <= settings.staleLimit ? .stale(seconds: Int(age)) : .unknown
    }

    /// The freshness of an answer, also if it lacks a change of this process.
    private func aged(_ freshness: Freshness, _ isUnread: Bool) -> Freshness {
        isUnread && freshness == .confirmed ? .stale(seconds: Int(Self.grace)) : freshness
    }

    /// The database cannot be asked, and memory has no answer either.
    static let unread = Problem(
        .storeUnavailable,
        "The database cannot be asked now, and this server does not have the answer in memory. Try again in a moment, or "
            + "another server; `grandstand doctor` shows what is wrong with the database.",
        retryAfter: 1)
}
