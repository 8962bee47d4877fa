internal import FoundationEssentials
internal import Grandstand

/// The operations on the start of an event.
struct StartOperations: Sendable {
    let events: any EventStore
    let starts: any StartStore
    let now: @Sendable () -> Date

    /// Starts the activities now. Followers are counted first, before the event is locked.
    ///
    /// - Parameter isDry: reports what would be sent, and starts nothing.
    /// - Throws: `event-not-found`, `forbidden`, `invalid-request` for an event without a start; the errors of the
    ///   store.
    func startNow(_ key: EventKey, isDry: Bool, _ caller: Caller) async throws -> StartReportsView {
        let reports = try await reports(of: key, isDry ? .dryRun : .asked, caller)
        if isDry { return reports }
        return reports.asked(
            by: try await starts.startNow(key, within: caller.reach, by: caller.actor, now: now()))
    }

    /// - Throws: `event-not-found`, `forbidden`.
    func stop(_ key: EventKey, _ caller: Caller) async throws {
        try await starts.stop(key, within: caller.reach, by: caller.actor, now: now())
    }

    /// - Throws: `event-not-found`, `forbidden`, `invalid-request` for an event without a start.
    func reports(of key: EventKey, _ outlook: StartOutlook, _ caller: Caller) async throws -> StartReportsView {
        let now = now()
        if let reports = try await starts.report(of: key, within: caller.reach, outlook, now: now) {
            return StartReportsView(reports: reports, now: now)
        }
        _ = try await events.declared(key, within: caller.reach, now: now)
        throw Problem(.invalidRequest, "The event \(key) declares no start. Declare it with PUT /v1/events/\(key).")
    }
}
