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
        /// How long a request waits for a refresh, and until memory has what this process changed.
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
        /// Events that this process has changed since the present refresh began.
        var changed: Set<EventKey> = []
        /// Events that this process had changed before the present refresh began, which reads them.
        var beingRead: Set<EventKey> = []
        /// The journal's position at the last refresh; `nil`: the journal has not been read since `needsSweep` was set.
        var position: String?
        var readAt = ContinuousClock.now
        /// Whether the journal may lack changes, so that everything must be read.
        var needsSweep = true
        /// The reading of everything that is going on: each refresh reads the page after this event.
        var sweep: Sweep?
        /// How many readings of everything have begun.
        var sweeps = 0
        /// When the database last confirmed that memory is up to date.
        var confirmedAt: Date?
        var lists: [LookupList.App: LookupList] = [:]
        /// The bodies of pages of lists, by the URI that asked for them.
        var pages: [String: (body: LookupBody, end: ContinuousClock.Instant)] = [:]
        /// How often `lists` was emptied because of a change of this process.
        var edition = 0

        struct Sweep {
            var after: EventKey?
        }

        /// Whether memory lacks a change of the event that this process made; `nil`: of any event.
        func isUnread(_ key: EventKey?) -> Bool {
            guard let key else { return !changed.isEmpty || !beingRead.isEmpty }
            return changed.contains(key) || beingRead.contains(key)
        }
    }

    let store: LookupStore
    let settings: Settings
    /// The API keys in memory. They learn of changes from the same journal.
    let keys: CachedKeyStore?
    let now: @Sendable () -> Date
    let state = Mutex(State())
    private let confirming: OutageLog
    private let flights: SharedFlight<Int, Void>
    /// Rung when there is something to read.
    private let bell = Doorbell()

    init(
        store: LookupStore, keys: CachedKeyStore? = nil,
        settings: Settings = Settings(), now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.store = store
        self.keys = keys
        self.settings = settings
        self.now = now
        flights = SharedFlight { [pace = settings.pace] _ in try? await Task.sleep(for: pace) }
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
                if hasListened { state.withLock { $0.needsSweep = true } }
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
            if state.withLock({ $0.sweep == nil && !$0.needsSweep }) { await bell.wait(atMost: settings.interval) }
        }
    }

    /// Must be called after a transaction of this process has changed `subjects`, and before the caller of the
    /// transaction is answered. Memory gives no answers about these events until they have been read again.
    func changed(_ subjects: [LookupStore.Subject]) {
        state.withLock { state in
            for case .event(let key) in subjects { state.changed.insert(key) }
        }
        bell.ring()
    }

    /// Brings memory up to date with everything that was committed before the call. One refresh runs at a time; callers
    /// that come during it share the next one. They wait for a limited time.
    func refresh() async throws {
        try await PostgresTimeLimit.$current.withValue(.request(settings.patience)) {
            try await flights.answer(0) { try await self.readChanges() }
        }
    }

    /// Reads the journal since the last refresh, reads the events that it names, and puts them into the dictionary. If
    /// everything must be read, each refresh also reads a page of it, so that changes are not delayed.
    private func readChanges() async throws {
        let moment = now()
        let (start, sweep) = state.withLock { state in
            // The journal may have deleted changes that were not read in time.
            if state.readAt.duration(to: .now) > .seconds(LookupStore.journalSeconds / 2) { state.needsSweep = true }
            if state.needsSweep {
                (state.needsSweep, state.position, state.sweep) = (false, nil, State.Sweep())
                state.sweeps += 1
            }
            // After a refresh that failed, some events are still to be read.
            state.beingRead.formUnion(state.changed)
            state.changed = []
            return (state.position ?? LookupStore.newest, state.sweep)
        }
        let (subjects, position) = try await store.changes(since: start)
        if subjects.contains(.keys) { keys?.changed() }
        let page =
            if let sweep { try await store.keys(after: sweep.after, limit: settings.pageSize) } else { [EventKey]() }
        let next = page.count < settings.pageSize ? nil : page.last
        var keys = (subjects.compactMap { if case .event(let key) = $0 { key } else { nil } } + page)[...]
        while !keys.isEmpty {
            let some = Array(keys.prefix(settings.pageSize))
            let records = try await store.records(of: some)
            for key in some { put(key, records[key] ?? []) }
            keys = keys.dropFirst(some.count)
        }
        state.withLock { state in
            (state.position, state.readAt) = (position, .now)
            if !state.beingRead.isEmpty {
                // Other processes' changes may be missing from lists for a second, but this process's may not.
                (state.beingRead, state.lists, state.pages) = ([], [:], [:])
                state.edition += 1
            }
            if subjects.contains(.everything) { state.needsSweep = true }
            if sweep != nil { state.sweep = next.map { State.Sweep(after: $0) } }
            if sweep != nil, next == nil {
                // Events that this reading did not find were deleted.
                let gone = state.entries.filter { $0.value.sweep != state.sweeps }.keys
                for key in gone { state.entries[key] = nil }
            }
            if state.sweep == nil, !state.needsSweep { state.confirmedAt = moment }
        }
    }

    /// Records that did not change are not replaced, so that their bodies are kept.
    func put(_ key: EventKey, _ records: [LookupRecord]) {
        state.withLock { state in
            if state.entries[key]?.records ?? [] == records {
                state.entries[key]?.sweep = state.sweeps
                return
            }
            state.entries[key] = records.isEmpty ? nil : LookupEntry(records, sweep: state.sweeps)
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
        let isRefreshed = await catchUp { state in !names.contains { state.isUnread($0.key) } }
        return names.map { name in
            var reply = reply(to: name)
            if !isRefreshed, reply.answer == nil { reply.freshness = .unknown }
            return reply
        }
    }

    private func reply(to name: LookupName) -> Reply {
        let now = now()
        return state.withLock { state in
            let (isUnread, freshness) = (state.isUnread(name.key), self.freshness(state.confirmedAt, now))
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

    /// Refreshes once, and then until memory is complete, for a limited time.
    ///
    /// - Returns: `false` if the database could not be read.
    @discardableResult
    private func catchUp(_ hasChanges: (State) -> Bool) async -> Bool {
        let end = ContinuousClock.now + settings.patience
        repeat {
            guard (try? await refresh()) != nil else { return false }
            let now = now()
            if state.withLock({ freshness($0.confirmedAt, now) != .unknown && hasChanges($0) }) { return true }
            try? await Task.sleep(for: settings.pace)
        } while ContinuousClock.now < end
        return true
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
        if state.withLock({ $0.isUnread(nil) || $0.confirmedAt == nil }) { await catchUp { !$0.isUnread(nil) } }
        let now = now()
        let (isUnread, freshness, edition) = state.withLock { state in
            (state.isUnread(nil), self.freshness(state.confirmedAt, now), state.edition)
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
