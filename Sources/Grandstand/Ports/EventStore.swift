package import APNsWire
package import FoundationEssentials

/// Events as their organisers declare them.
package protocol EventStore: Sendable {
    /// Creates the event or replaces its specification; channels follow by `ChannelStore.align`.
    ///
    /// - Throws: `invalid-request` for an app that is not known; `event-ended` for one that is over.
    func put(
        _ specification: EventSpecification, by actor: AuditActor, now: Date
    ) async throws -> (event: Event, created: Bool)

    func event(_ key: EventKey, now: Date) async throws -> Event?

    func events(where filter: EventFilter, _ page: PageRequest, now: Date) async throws -> Page<Event>

    /// Cancels the event: nothing more is sent, its channels retire.
    ///
    /// - Throws: `event-not-found`.
    func cancel(_ key: EventKey, by actor: AuditActor, now: Date) async throws

    /// The hot path: the channel of an event for one app. `topic` is the lowercased bundle ID.
    func lookup(
        topic: String, in environment: APNsEnvironment, _ key: EventKey, contentState: Bool, now: Date
    ) async throws -> LookupEntry?
}

/// Narrows a list of events; `nil` does not.
package struct EventFilter: Sendable, Hashable {
    package var state: Event.State?
    package var kind: String?
    package var bundleID: BundleID?
    /// Events that start at or after this.
    package var from: Date?
    /// Events that start before this.
    package var to: Date?

    package init(
        state: Event.State? = nil, kind: String? = nil, bundleID: BundleID? = nil, from: Date? = nil, to: Date? = nil
    ) {
        self.state = state
        self.kind = kind
        self.bundleID = bundleID
        self.from = from
        self.to = to
    }
}
