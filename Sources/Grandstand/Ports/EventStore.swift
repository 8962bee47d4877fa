package import FoundationEssentials

/// Stores events as their organisers declare them.
package protocol EventStore: Sendable {
    /// Creates the event or replaces its specification. `ChannelStore.align` then creates or retires channels. If the
    /// server had closed the event on its own and the new declaration reaches into the future, the event is live again,
    /// with the channels that still exist.
    ///
    /// - Parameter reach: the caller's reach. It is checked while the event's audiences are locked.
    /// - Throws: `invalid-request` for an unknown app; `event-ended` for an event that is over; `forbidden`;
    ///   `version-mismatch`.
    func put(
        _ specification: EventSpecification, within reach: AppReach, by actor: AuditActor, if condition: WriteCondition,
        now: Date
    ) async throws -> (event: Event, created: Bool)

    func event(_ key: EventKey, now: Date) async throws -> Event?

    func events(where filter: EventFilter, _ page: PageRequest, now: Date) async throws -> Page<Event>

    /// Cancels the event: nothing more is sent, and its channels retire. An event that is over is not changed.
    ///
    /// - Parameter sendsEnd: whether all activities that can be reached get a last `end` first. This `end` replaces
    ///   waiting messages.
    /// - Throws: `event-not-found`, `forbidden`, `version-mismatch`; `event-ended` if an end is requested for an event
    ///   that is over, and some activities that can be reached got no `end`.
    func cancel(
        _ key: EventKey, sendingEnd sendsEnd: Bool, within reach: AppReach, by actor: AuditActor,
        if condition: WriteCondition, now: Date
    ) async throws

    /// Undoes the end or the cancellation of an event. The event takes broadcasts again, with the channels that still
    /// exist, and its start resumes. An `end` that waits is withdrawn. If an `end` may have been sent to an audience,
    /// the newest content is sent again, for devices that were offline. An event that is not over is not changed.
    ///
    /// - Parameter audiences: the audiences to reopen; `nil`: all, including audiences that had got an `end` of their
    ///   own.
    /// - Throws: `event-not-found`, `forbidden`; `invalid-request` for an audience that the event does not have.
    func reopen(
        _ key: EventKey, audiences: [AudienceSelector]?, within reach: AppReach, by actor: AuditActor, now: Date
    ) async throws -> Reopening

    /// The answers to lookups of these names. Unknown names are missing.
    ///
    /// - Parameter contentState: whether the answers include the newest content.
    func lookups(
        of names: Set<LookupName>, contentState: Bool, now: Date
    ) async throws -> [LookupName: LookupEntry]
}

extension EventStore {
    /// The event with this key, if the event and all its audiences are within `reach`.
    ///
    /// - Throws: `event-not-found`, also if the event has audiences out of reach.
    package func declared(_ key: EventKey, within reach: AppReach, now: Date) async throws -> Event {
        guard let event = try await event(key, now: now),
            reach.covers(event: key, of: event.specification.audiences.map(\.bundleID))
        else { throw Problem.noEvent(key) }
        return event
    }
}

extension Problem {
    /// The error for an event that does not exist. An event out of the caller's reach gets the same text, so that the
    /// answer does not reveal which events others have.
    package static func noEvent(_ key: EventKey) -> Problem {
        Problem(.eventNotFound, "There is no event \(key). Declare it with PUT /v1/events/\(key) first.")
    }

    /// The error for an event key that the caller cannot use: an event out of its reach has the key, or the key has a
    /// prefix that other API keys are bound to. Within such a prefix the answer does not reveal which keys are taken.
    package static func takenEvent(_ key: EventKey) -> Problem {
        Problem(
            .forbidden,
            "The event key \(key) is taken by an event that your key does not reach, or it is reserved for other keys. "
                + "Choose another event key, or ask an administrator, who can see whose it is.")
    }
}

/// A filter of events; a member that is `nil` does not filter.
package struct EventFilter: Sendable, Hashable {
    package var state: Event.State?
    package var kind: String?
    package var season: SeasonName?
    package var bundleID: BundleID?
    /// Events that start at this time or later.
    package var from: Date?
    /// Events that start before this time.
    package var to: Date?
    /// Only events that still have a channel, although by this rule they should no longer need it.
    package var overdueBy: ChannelTenure?
    /// Only events within this reach.
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
