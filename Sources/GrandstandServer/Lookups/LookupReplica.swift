internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Synchronization

/// This process's copy of the answers to lookups. `LookupReplica+upkeep` keeps it up to date.
///
/// While the database is away, answers are given from this copy with their age, for a limited time.
final class LookupReplica: Sendable {
    struct Settings: Sendable {
        /// The time between two readings of the journal, which also confirm the copy.
        var interval = Duration.milliseconds(500)
        /// The pause after changes were read. With this pause, even a thousand changes a second cause only fifty
        /// queries a second.
        var pace = Duration.milliseconds(20)
        /// Seconds for which answers are given although the database does not confirm them.
        var staleLimit: TimeInterval = 600
        /// Seconds after which the journal may have deleted entries that this process has not read.
        var journalSeconds: Double = 300
        /// The maximum number of events in one query.
        var pageSize = 2_000
        /// How long a lookup waits for the reading of an event that this process changed.
        var patience = Duration.seconds(2)
    }

    /// How reliable an answer is.
    enum Freshness: Sendable, Hashable {
        case confirmed
        /// The last confirmation was `seconds` ago.
        case stale(seconds: Int)
        /// Nothing has been read yet, or the last confirmation is too old.
        case unknown
    }

    struct State {
        /// The records of each event's audiences. The dictionary is changed in place under the lock: if a copy were
        /// kept, the next change would copy the whole dictionary.
        var records: [EventKey: [LookupRecord]] = [:]
        /// The events that were read one by one while everything is read again; `nil`: no such reading runs. Deleted
        /// events have an empty array. These records are newer than any page.
        var readMeanwhile: [EventKey: [LookupRecord]]?
        /// When the database last confirmed that memory is up to date.
        var confirmedAt: Date?
        /// The events to read, and the changes of this process that have not been read since.
        var backlog = LookupBacklog()
        /// Lookups that wait for a round of reading that begins after a change of this process.
        var waiting: [Waiting] = []
        var questions: RecentQuestions<LookupName>
        /// Answers from the database for names that memory does not have yet. These answers are kept for a moment,
        /// until memory has read the event. Without them, a client that has just been given a channel could next be
        /// told that there is no channel.
        var told: [LookupName: Told] = [:]
    }

    struct Waiting {
        /// The number of the change of this process that the lookup waits for.
        let after: Int
        let continuation: AsyncStream<Void>.Continuation
    }

    struct Told {
        let answer: LookupAnswer
        let until: Date
    }

    let store: LookupStore
    let settings: Settings
    /// The API keys in memory. They learn of changes from the same journal.
    let keys: CachedKeyStore?
    let now: @Sendable () -> Date
    let logger: Logger
    let confirming: OutageLog
    let reading: OutageLog
    /// Rung when there is something to read.
    let bell = Doorbell()
    let state: Mutex<State>
    /// The lists of events. They are changed together with `state`, and only under its lock.
    let lists = LookupLists()

    init(
        store: LookupStore, keys: CachedKeyStore? = nil,
        settings: Settings = Settings(), now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.store = store
        self.keys = keys
        self.settings = settings
        self.now = now
        self.logger = logger
        confirming = OutageLog("lookups could not be confirmed; they are answered from memory", logger)
        reading = OutageLog("the events for lookups could not be read", logger)
        state = Mutex(State(questions: RecentQuestions(now: now())))
    }

    /// Must be called after a transaction of this process has changed `subjects`, and before the caller of the
    /// transaction is answered. Memory gives no answers about `subjects` until they have been read again.
    func changed(_ subjects: [LookupChange.Subject]) {
        var events: Set<EventKey> = []
        var isEverything = false
        for subject in subjects {
            switch subject {
            case .event(let key): events.insert(key)
            case .everything: isEverything = true
            case .keys: keys?.changed()
            }
        }
        state.withLock { state in
            state.backlog.change(Array(events), at: .now)
            if isEverything { state.backlog.forgetPosition() }
            if !state.told.isEmpty { state.told = state.told.filter { !events.contains($0.key.key) } }
        }
        bell.ring()
    }

    /// The answer from memory. `nil`: memory has no answer, memory is too old, or this process changed the event and
    /// memory has not read the event since.
    func known(_ name: LookupName) -> (answer: LookupAnswer, freshness: Freshness)? {
        let now = now()
        let (records, confirmedAt) = state.withLock { state in
            (state.backlog.unread(name.key) == nil ? state.records[name.key] : nil, state.confirmedAt)
        }
        let freshness = freshness(confirmedAt, now)
        guard freshness != .unknown, let answer = records?.answer(to: name, now: now) else { return nil }
        return (answer, freshness)
    }

    /// The answer from memory. If memory has no channel, the database is also asked, so that a new event is found at
    /// once. At most one query a second is made for one name, and the number of queries for all names is limited. If
    /// this process has just changed the event, the method waits until the event has been read.
    ///
    /// - Returns: `nil` as the answer for an event that does not exist.
    /// - Throws: `store-unavailable` if memory does not have the name and the database is away.
    func answer(to name: LookupName) async throws -> (answer: LookupAnswer?, freshness: Freshness) {
        let isRead = await isRead(name.key)
        let now = now()
        let (records, freshness) = state.withLock { ($0.records[name.key], self.freshness($0.confirmedAt, now)) }
        let known = freshness == .unknown ? nil : records?.answer(to: name, now: now)
        guard isRead else {
            guard let known else { throw Self.unread }
            return (known, aged(freshness))
        }
        switch known {
        case .found, .over: return (known, freshness)
        case .pending, .noSuchVariant, nil: break
        }
        let (mayAsk, told, lastOwnChange) = state.withLock { state -> (Bool, LookupAnswer?, Int) in
            if case .stale = freshness { return (false, nil, 0) }
            if let told = state.told[name], told.until > now { return (false, told.answer, 0) }
            return (state.questions.mayAsk(name, now: now), nil, state.backlog.lastOwnChange)
        }
        if let told { return (told, .confirmed) }
        guard mayAsk else {
            // Only memory that the database has confirmed knows that an event does not exist.
            guard known != nil || freshness == .confirmed else { throw Self.unread }
            return (known, freshness)
        }
        do {
            let records = try await store.records(of: [name.key])[name.key]
            let answer = records?.answer(to: name, now: now)
            if case .found(let body)? = answer { remember(.found(body), of: name, since: lastOwnChange, now: now) }
            return (answer, .confirmed)
        } catch let problem as Problem where problem.kind == .storeUnavailable {
            state.withLock { $0.questions.forget(name) }
            guard let known else { throw problem }
            return (known, freshness)
        }
    }

    /// Waits until all changes that this process has made to the event are in memory. The wait ends at the latest when
    /// `patience` has passed since the last of these changes.
    ///
    /// - Parameter key: the event; `nil`: all events.
    /// - Returns: `true` if memory is up to date; `false`: memory lacks a change.
    func isRead(_ key: EventKey?) async -> Bool {
        let wait = state.withLock { state -> (stream: AsyncStream<Void>, end: ContinuousClock.Instant)? in
            let unread = if let key { state.backlog.unread(key) } else { state.backlog.unread }
            guard let unread else { return nil }
            let end = unread.at + settings.patience
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            if end > .now { state.waiting.append(Waiting(after: unread.number, continuation: continuation)) }
            return (stream, end)
        }
        guard let (stream, end) = wait else { return true }
        guard end > .now else { return false }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask { await stream.first { true } != nil }
            group.addTask {
                try? await Task.sleep(until: end, clock: .continuous)
                return false
            }
            let isRead = await group.next() ?? false
            group.cancelAll()
            return isRead
        }
    }

    /// The freshness of an answer from memory that lacks a change of this process.
    private func aged(_ freshness: Freshness) -> Freshness {
        freshness == .confirmed ? .stale(seconds: Int(settings.patience.components.seconds)) : freshness
    }

    /// Keeps an answer of the database for a moment, unless this process has changed something since the query began.
    /// The number of kept answers never exceeds the number of queries, and the queries are limited.
    private func remember(_ answer: LookupAnswer, of name: LookupName, since lastOwnChange: Int, now: Date) {
        state.withLock { state in
            guard state.backlog.lastOwnChange == lastOwnChange else { return }
            state.told = state.told.filter { $0.value.until > now }
            state.told[name] = Told(answer: answer, until: now.addingTimeInterval(Self.toldFor))
        }
    }

    /// Seconds for which an answer of the database is kept. Memory reads a change within this time.
    private static let toldFor: TimeInterval = 1

    // MARK: Lists of the events that an app may offer to follow

    /// The cached list for `uri`; `nil`: the list is not cached, memory is too old, or a change of this process has not
    /// been read yet.
    func knownList(_ uri: String) -> (body: LookupBody, freshness: Freshness)? {
        let now = now()
        let (lastOwnChange, confirmedAt) = state.withLock { state in
            (state.backlog.unread == nil ? state.backlog.lastOwnChange : nil, state.confirmedAt)
        }
        let freshness = freshness(confirmedAt, now)
        guard freshness != .unknown, let lastOwnChange,
            let body = lists.known(uri, lastOwnChange: lastOwnChange, now: now)
        else { return nil }
        return (body, freshness)
    }

    /// The list for a query, with all changes that this process made before. If these changes could not be read in
    /// time, the answer counts as stale.
    ///
    /// - Parameter uri: the query's URI, under which the answer is cached for `knownList`.
    /// - Throws: `store-unavailable` if memory is empty or too old.
    func list(
        _ query: LookupListQuery, topic: String, in environment: APNsEnvironment, uri: String
    ) async throws -> (body: LookupBody, freshness: Freshness) {
        let lastOwnChange = state.withLock(\.backlog.lastOwnChange)
        let isRead = await isRead(nil)
        let now = now()
        let freshness = freshness(now)
        guard freshness != .unknown else { throw Self.unread }
        let app = LookupLists.App(topic: topic, environment: environment)
        let body = lists.body(uri, app, query, lastOwnChange: lastOwnChange, isKept: isRead, now: now)
        return (body, isRead ? freshness : aged(freshness))
    }

    // MARK: Freshness

    /// Seconds since the database last confirmed memory; `nil`: the database never confirmed memory.
    var staleness: TimeInterval? {
        state.withLock(\.confirmedAt).map { max(0, now().timeIntervalSince($0)) }
    }

    private func freshness(_ now: Date) -> Freshness { freshness(state.withLock(\.confirmedAt), now) }

    /// Seconds without confirmation after which answers contain their age. This time is longer than `interval`, so a
    /// check that is slightly late does not make answers stale.
    private static let grace: TimeInterval = 2

    private func freshness(_ confirmedAt: Date?, _ now: Date) -> Freshness {
        guard let confirmedAt else { return .unknown }
        let age = now.timeIntervalSince(confirmedAt)
        if age <= Self.grace { return .confirmed }
        return age <= settings.staleLimit ? .stale(seconds: Int(age)) : .unknown
    }

    /// The database cannot be asked, and memory has no answer either.
    static let unread = Problem(
        .storeUnavailable,
        "The database cannot be asked now, and this server does not have the answer in memory. Try again in a moment, or "
            + "another server; `grandstand doctor` shows what is wrong with the database.",
        retryAfter: 1)
}
