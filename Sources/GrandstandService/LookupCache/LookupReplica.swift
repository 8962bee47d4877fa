package import APNsWire
package import FoundationEssentials
package import Grandstand
package import Logging
internal import Synchronization

/// This process's copy of the answers to lookups. `LookupReplica+upkeep` keeps it up to date.
///
/// While the database is away, answers are given from this copy with their age, for a limited time.
package final class LookupReplica: Sendable {
    package struct Settings: Sendable {
        /// The time between two readings of the journal, which also confirm the copy.
        package var interval = Duration.milliseconds(500)
        /// The rest after changes were read. It limits a thousand changes a second to fifty queries.
        package var pace = Duration.milliseconds(20)
        /// Seconds for which unconfirmed answers are given.
        package var staleLimit: TimeInterval
        /// Seconds after which the journal may have deleted entries that this process has not read.
        package var journalSeconds: Double = 300
        /// The most events in one query.
        package var pageSize = 2_000
        /// Seconds without confirmation after which answers contain their age. A check that is slightly late does not
        /// count.
        package var grace: TimeInterval = 2
        /// Whether the database is asked for entries that memory does not have. A standby database does not have more
        /// than memory.
        package var asksDatabase = true
        /// How long a lookup waits for the reading of an event that this process changed.
        package var patience = Duration.seconds(2)

        package init(staleLimit: TimeInterval = 600) { self.staleLimit = staleLimit }
    }

    /// How reliable an answer is.
    package enum Freshness: Sendable, Hashable {
        case confirmed
        /// The last confirmation was so many seconds ago.
        case stale(seconds: Int)
        /// Nothing has been read yet, or the last confirmation is too old.
        case unknown
    }

    struct State {
        /// The records of each event's audiences. They are changed in place under the lock: if a copy were kept, the
        /// next change would copy the whole dictionary.
        var records: [EventKey: [LookupRecord]] = [:]
        /// While everything is read again: the events that were read singly since then, with an empty array for deleted
        /// ones. They are newer than any page.
        var readMeanwhile: [EventKey: [LookupRecord]]?
        /// When the database last confirmed that memory is up to date.
        var confirmedAt: Date?
        var questions: RecentQuestions<LookupName>
        /// Answers from the database for names that memory has not read yet, until it has. Otherwise a client that was
        /// given a channel could get the answer a moment later that there is none.
        var told: [LookupName: Told] = [:]
    }

    struct Told {
        let answer: LookupAnswer
        let until: Date
    }

    let source: any LookupSource
    let settings: Settings
    /// The cache of keys, which is updated from the same journal.
    let keys: (any KeyMemory)?
    let now: @Sendable () -> Date
    let logger: Logger
    let confirming: OutageLog
    let reading: OutageLog
    let readerBell = Doorbell()
    let rebuilderBell = Doorbell()
    let backlog = Mutex(LookupBacklog())
    let state: Mutex<State>
    let marks: LookupMarks
    /// Changed only under the lock of `state`, together with it.
    let lists = LookupLists()

    package init(
        source: any LookupSource, keys: (any KeyMemory)? = nil,
        settings: Settings = Settings(), now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.source = source
        self.keys = keys
        self.settings = settings
        self.now = now
        self.logger = logger
        marks = LookupMarks(patience: settings.patience)
        confirming = OutageLog("lookups could not be confirmed; they are answered from memory", logger)
        reading = OutageLog("the events for lookups could not be read", logger)
        state = Mutex(State(questions: RecentQuestions(now: now())))
    }

    /// Must be called after a transaction of this process has changed `subjects`, and before its caller is answered.
    /// Memory does not answer for them until they have been read again.
    package func changed(_ subjects: [LookupChange.Subject]) {
        var keys: [EventKey] = []
        for subject in subjects {
            switch subject {
            case .event(let key): keys.append(key)
            case .everything: startAnew()
            case .keys: self.keys?.changed()
            }
        }
        guard !keys.isEmpty else { return }
        marks.mark(keys)
        let changed = Set(keys)
        state.withLock { state in
            if !state.told.isEmpty { state.told = state.told.filter { !changed.contains($0.key.key) } }
        }
        backlog.withLock { $0.giveBack(keys) }
        readerBell.ring()
    }

    /// The answer from memory; `nil`: memory has none, is too old, or has not been read since this process changed the
    /// event.
    package func known(
        topic: String, in environment: APNsEnvironment, _ key: EventKey, variant: Variant? = nil
    ) -> (answer: LookupAnswer, freshness: Freshness)? {
        // Check the mark first: it is removed only after the event's records are in memory.
        marks.contain(key) ? nil : remembered(topic, environment, key, variant)
    }

    private func remembered(
        _ topic: String, _ environment: APNsEnvironment, _ key: EventKey, _ variant: Variant?
    ) -> (answer: LookupAnswer, freshness: Freshness)? {
        let now = now()
        let (records, confirmedAt) = state.withLock { ($0.records[key], $0.confirmedAt) }
        let freshness = freshness(confirmedAt, now)
        guard freshness != .unknown,
            let answer = records?.answer(topic: topic, in: environment, variant, of: key, now: now)
        else { return nil }
        return (answer, freshness)
    }

    /// The answer from memory. If memory has no channel, the database is asked too, so that a new event is found at
    /// once. At most one query a second is made for one name, and a limited number for all. If this process has just
    /// changed the event, this waits until it has been read.
    ///
    /// - Parameter variant: `nil`: the audience without a variant, otherwise the first that is not over.
    /// - Returns: `nil` as the answer for an event that does not exist.
    /// - Throws: `store-unavailable` if memory does not have the name and the database is away.
    package func answer(
        topic: String, in environment: APNsEnvironment, _ key: EventKey, variant: Variant? = nil
    ) async throws -> (answer: LookupAnswer?, freshness: Freshness) {
        let isRead = await marks.areRead(of: key)
        let known = remembered(topic, environment, key, variant)
        guard isRead else { return try old(known) }
        switch known?.answer {
        case .found, .over: return (known?.answer, known?.freshness ?? .confirmed)
        case .pending, .noSuchVariant, nil: break
        }
        let name = LookupName(topic: topic, environment: environment, key: key, variant: variant)
        let now = now()
        let made = marks.made
        let (freshness, mayAsk, told) = state.withLock { state -> (Freshness, Bool, LookupAnswer?) in
            let freshness = self.freshness(state.confirmedAt, now)
            if case .stale = freshness { return (freshness, false, nil) }
            if let told = state.told[name], told.until > now { return (.confirmed, false, told.answer) }
            return (freshness, state.questions.mayAsk(name, now: now), nil)
        }
        if let told { return (told, freshness) }
        guard mayAsk, settings.asksDatabase else {
            // Only confirmed memory knows that an event does not exist.
            guard known != nil || freshness == .confirmed else { throw Self.unread }
            return (known?.answer, freshness)
        }
        do {
            let records = try await source.records(of: [key])[key]
            let answer = records?.answer(topic: topic, in: environment, variant, of: key, now: now)
            if case .found(let body)? = answer { remember(.found(body), of: name, unlessMarkedSince: made, now: now) }
            return (answer, .confirmed)
        } catch let problem as Problem where problem.kind == .storeUnavailable {
            state.withLock { $0.questions.forget(name) }
            guard let known else { throw problem }
            return (known.answer, freshness)
        }
    }

    /// The answer from memory for an event that this process has changed and could not read again in time.
    ///
    /// - Throws: `store-unavailable` if memory has no answer.
    private func old(
        _ known: (answer: LookupAnswer, freshness: Freshness)?
    ) throws(Problem) -> (answer: LookupAnswer?, freshness: Freshness) {
        guard let known else { throw Self.unread }
        guard case .confirmed = known.freshness else { return known }
        return (known.answer, .stale(seconds: Int(settings.patience.components.seconds)))
    }

    /// Keeps an answer of the database for a moment, unless this process has changed something since the query began.
    /// The number of answers is bounded by that of queries.
    private func remember(_ answer: LookupAnswer, of name: LookupName, unlessMarkedSince made: Int, now: Date) {
        state.withLock { state in
            guard marks.made == made else { return }
            state.told = state.told.filter { $0.value.until > now }
            state.told[name] = Told(answer: answer, until: now.addingTimeInterval(Self.toldFor))
        }
    }

    /// Seconds. Memory reads a change within this time.
    private static let toldFor: TimeInterval = 1

    /// Seconds since memory was last confirmed by the database; `nil`: it never was.
    package var staleness: TimeInterval? {
        state.withLock(\.confirmedAt).map { max(0, now().timeIntervalSince($0)) }
    }

    /// The freshness of an answer that the database has just given, if memory's is `memory`.
    package func freshnessOfDatabase(_ memory: Freshness) -> Freshness { settings.asksDatabase ? .confirmed : memory }

    /// The freshness of memory now.
    package var freshness: Freshness { freshness(now()) }

    /// The freshness of memory at `now`.
    func freshness(_ now: Date) -> Freshness { freshness(state.withLock(\.confirmedAt), now) }

    private func freshness(_ confirmedAt: Date?, _ now: Date) -> Freshness {
        guard let confirmedAt else { return .unknown }
        let age = now.timeIntervalSince(confirmedAt)
        if age <= settings.grace { return .confirmed }
        return age <= settings.staleLimit ? .stale(seconds: Int(age)) : .unknown
    }

    /// The database cannot be asked, and memory has no answer either.
    static let unread = Problem(
        .storeUnavailable,
        "The database cannot be asked now, and this server does not have the answer in memory. Try again in a moment, or "
            + "another server; `grandstand doctor` shows what is wrong with the database.",
        retryAfter: 1)
}
