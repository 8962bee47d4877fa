package import APNsWire
package import FoundationEssentials
package import Grandstand
package import Logging
internal import Synchronization

/// This process's copy of the lookup's answers: asked here, kept true in `LookupReplica+upkeep`.
///
/// While the database does not answer, what was known is answered with its age, for a bounded time.
package final class LookupReplica: Sendable {
    package struct Settings: Sendable {
        /// How often the journal is read, and the memory confirmed with it.
        package var interval = Duration.milliseconds(500)
        /// Rest after changes were read: a thousand changes a second are fifty queries then.
        package var pace = Duration.milliseconds(20)
        /// Seconds for which answers are given that cannot be confirmed.
        package var staleLimit: TimeInterval
        /// Seconds after which the journal may have forgotten what this process did not read.
        package var journalSeconds: Double = 300
        /// Events in one query.
        package var pageSize = 2_000
        /// Seconds without confirmation after which an answer says so; a check may be late without that.
        package var grace: TimeInterval = 2
        /// Whether the database is asked for entries that memory does not have. At a standby it knows no more than
        /// memory does.
        package var asksDatabase = true
        /// How long a lookup waits until an event that this process changed is read again.
        package var patience = Duration.seconds(2)

        package init(staleLimit: TimeInterval = 600) { self.staleLimit = staleLimit }
    }

    /// How far an answer can be believed.
    package enum Freshness: Sendable, Hashable {
        case confirmed
        /// Not confirmed for so many seconds.
        case stale(seconds: Int)
        /// Nothing was read yet, or too long ago.
        case unknown
    }

    struct State {
        /// The audiences of each event. Read and written in place, under the lock: a copy that outlives it would have
        /// the next change copy everything.
        var records: [EventKey: [LookupRecord]] = [:]
        /// While everything is read anew, what was read of single events since that began, nothing for those that are
        /// gone: newer than any page.
        var readMeanwhile: [EventKey: [LookupRecord]]?
        /// When the database last said that memory is right.
        var confirmedAt: Date?
        var questions: RecentQuestions<LookupName>
        /// The database's answers for names that memory had not read yet, until memory has: a client that was given a
        /// channel is not told a moment later that there is none.
        var told: [LookupName: Told] = [:]
    }

    struct Told {
        let answer: LookupAnswer
        let until: Date
    }

    let source: any LookupSource
    let settings: Settings
    /// The memory of keys, which learns from the same journal.
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
    /// Written under the lock of `state`, with it.
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

    /// A transaction of this process that changed this is over, and its caller has not been answered yet: no answer of
    /// memory's is given for it until it has been read again.
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

    /// The answer out of memory, at once; `nil` when it has none, cannot be believed any more, or was not read since
    /// this process changed the event.
    package func known(
        topic: String, in environment: APNsEnvironment, _ key: EventKey, variant: Variant? = nil
    ) -> (answer: LookupAnswer, freshness: Freshness)? {
        // Before the records are read: a mark goes only after its event's records are there.
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

    /// The answer out of memory. Where it has no channel to name, the database is asked too, as long as it can be: an
    /// event that was made a moment ago is found at once. That is one question a second for one name, and a bounded
    /// number for all. An event that this process has just changed is waited for.
    ///
    /// - Parameter variant: `nil`: the audience without one, else the first that is not over.
    /// - Returns: no answer for an event that is not there.
    /// - Throws: `store-unavailable` for a name that is not known while the database is away.
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
            // Only memory that was confirmed just now knows that there is none.
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

    /// The entry in memory of an event that this process changed, when the database could not be read since.
    ///
    /// - Throws: `store-unavailable` when memory has nothing.
    private func old(
        _ known: (answer: LookupAnswer, freshness: Freshness)?
    ) throws(Problem) -> (answer: LookupAnswer?, freshness: Freshness) {
        guard let known else { throw Self.unread }
        guard case .confirmed = known.freshness else { return known }
        return (known.answer, .stale(seconds: Int(settings.patience.components.seconds)))
    }

    /// As many as questions are asked in a second, at most. What was read before this process changed something is not
    /// remembered.
    private func remember(_ answer: LookupAnswer, of name: LookupName, unlessMarkedSince made: Int, now: Date) {
        state.withLock { state in
            guard marks.made == made else { return }
            state.told = state.told.filter { $0.value.until > now }
            state.told[name] = Told(answer: answer, until: now.addingTimeInterval(Self.toldFor))
        }
    }

    /// Seconds; memory has read a change within one.
    private static let toldFor: TimeInterval = 1

    /// Seconds since memory was last confirmed by the database; `nil`: it never was.
    package var staleness: TimeInterval? {
        state.withLock(\.confirmedAt).map { max(0, now().timeIntervalSince($0)) }
    }

    /// How far an answer can be believed that the database gave a moment ago, when memory is as fresh as this.
    package func freshnessOfDatabase(_ memory: Freshness) -> Freshness { settings.asksDatabase ? .confirmed : memory }

    /// How far memory can be believed now.
    package var freshness: Freshness { freshness(now()) }

    /// How far memory can be believed at `now`.
    func freshness(_ now: Date) -> Freshness { freshness(state.withLock(\.confirmedAt), now) }

    private func freshness(_ confirmedAt: Date?, _ now: Date) -> Freshness {
        guard let confirmedAt else { return .unknown }
        let age = now.timeIntervalSince(confirmedAt)
        if age <= settings.grace { return .confirmed }
        return age <= settings.staleLimit ? .stale(seconds: Int(age)) : .unknown
    }

    /// The database cannot be asked now, and memory does not know either.
    static let unread = Problem(
        .storeUnavailable,
        "The database cannot be asked now, and this server does not have the answer in memory. Try again in a moment, or "
            + "another server; `grandstand doctor` tells what is wrong with the database.",
        retryAfter: 1)
}
