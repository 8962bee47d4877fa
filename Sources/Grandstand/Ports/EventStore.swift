package import FoundationEssentials

/// Events as their organisers declare them.
package protocol EventStore: Sendable {
    /// Creates the event or replaces its specification; channels follow by `ChannelStore.align`. An event that the clock
    /// closed lives again when its declaration now reaches into the future, with the channels that still exist.
    ///
    /// - Parameter reach: whose event may be replaced; decided while its audiences are locked.
    /// - Throws: `invalid-request` for an app that is not known; `event-ended` for an event that is over; `forbidden`;
    ///   `version-mismatch`.
    func put(
        _ specification: EventSpecification, within reach: AppReach, by actor: AuditActor, if condition: WriteCondition,
        now: Date
    ) async throws -> (event: Event, created: Bool)

    func event(_ key: EventKey, now: Date) async throws -> Event?

    func events(where filter: EventFilter, _ page: PageRequest, now: Date) async throws -> Page<Event>

    /// Cancels the event: nothing more is sent, its channels retire. One that is over stays as it is.
    ///
    /// - Parameter sendsEnd: whether a last `end` is sent before that, in place of what waits, to all activities that
    ///   can be reached.
    /// - Throws: `event-not-found`, `forbidden`, `version-mismatch`; `event-ended` when an end is wanted for one that is over,
    ///   and activities can be reached that got none.
    func cancel(
        _ key: EventKey, sendingEnd sendsEnd: Bool, within reach: AppReach, by actor: AuditActor,
        if condition: WriteCondition, now: Date
    ) async throws

    /// Takes the end or the cancellation of an event back: it takes broadcasts again, with the channels that still exist,
    /// and what it starts goes on. An `end` that waits is withdrawn; where one may have left, the newest content is sent
    /// once more, for devices that were offline. One that is not over stays as it is.
    ///
    /// - Parameter audiences: only these; `nil`: all, also those that had got an `end` of their own.
    /// - Throws: `event-not-found`, `forbidden`; `invalid-request` for an audience that the event lacks.
    func reopen(
        _ key: EventKey, audiences: [AudienceSelector]?, within reach: AppReach, by actor: AuditActor, now: Date
    ) async throws -> Reopening

    /// The answers to lookups of these names; a name that is not known is missing.
    ///
    /// - Parameter contentState: whether the newest content comes along.
    func lookups(
        of names: Set<LookupName>, contentState: Bool, now: Date
    ) async throws -> [LookupName: LookupEntry]
}

extension EventStore {
    /// The event of this key, for a caller that reaches it.
    ///
    /// - Throws: `event-not-found`, also when it has audiences out of reach.
    package func declared(_ key: EventKey, within reach: AppReach, now: Date) async throws -> Event {
        guard let event = try await event(key, now: now),
            reach.covers(event: key, of: event.specification.audiences.map(\.bundleID))
        else { throw Problem.noEvent(key) }
        return event
    }
}

extension Problem {
    /// There is no such event for the caller. An event out of its reach is answered with the same words, so that the answer
    /// does not tell which events others have.
    package static func noEvent(_ key: EventKey) -> Problem {
        Problem(.eventNotFound, "There is no event \(key). Declare it with PUT /v1/events/\(key) first.")
    }

    /// The caller cannot declare an event of this name: one out of its reach exists, or other keys are bound to a prefix of
    /// the name. Within such a prefix the answer does not tell which names are taken.
    package static func takenEvent(_ key: EventKey) -> Problem {
        Problem(
            .forbidden,
            "The event key \(key) is taken by an event that your key does not reach, or it is reserved for other keys. "
                + "Choose another event key, or ask an administrator, who can see whose it is.")
    }
}

/// Narrows a list of events; `nil` does not.
package struct EventFilter: Sendable, Hashable {
    package var state: Event.State?
    package var kind: String?
    package var season: SeasonName?
    package var bundleID: BundleID?
    /// Events that start at or after this.
    package var from: Date?
    /// Events that start before this.
    package var to: Date?
    /// Only events that hold a channel which by this they should not need any more.
    package var overdueBy: ChannelTenure?
    /// Only events within it.
    package var reach: AppReach

    package init(
        state: Event.State? = nil, kind: String? = nil, season: SeasonName? = nil, bundleID: BundleID? = nil,
        from: Date? = nil, to: Date? = nil, overdueBy: ChannelTenure? = nil, within reach: AppReach = .all
    ) {
        self.reach = reach
        self.overdueBy = overdueBy
        self.state = state
        self.kind = kind
        self.season = season
        self.bundleID = bundleID
        self.from = from
        self.to = to
    }
}
