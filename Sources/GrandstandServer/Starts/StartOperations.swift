internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

struct StartOperations: Sendable {
    let events: any EventStore
    let starts: any StartStore
    let now: @Sendable () -> Date

    /// Starts the activities now. Followers are counted first, before the event is locked.
    ///
    /// - Parameter isDry: reports what would be sent, and starts nothing.
    /// - Throws: `event-not-found`, `forbidden`, `invalid-request` for an event without a start; the errors of the
    ///   store.
    func startNow(_ key: EventKey, isDry: Bool, _ caller: Caller) async throws -> Contract.StartReport {
        var report = try await report(of: key, isDry ? .dryRun : .asked, caller)
        if isDry { return report }
        report.by =
            try await starts.startNow(key, within: caller.reach, by: caller.actor, now: now()) ?? report.by
        return report
    }

    /// - Throws: `event-not-found`, `forbidden`.
    func stop(_ key: EventKey, _ caller: Caller) async throws {
        try await starts.stop(key, within: caller.reach, by: caller.actor, now: now())
    }

    /// - Throws: `event-not-found`, `forbidden`, `invalid-request` for an event without a start.
    func report(of key: EventKey, _ outlook: StartOutlook, _ caller: Caller) async throws -> Contract.StartReport {
        let now = now()
        if let reports = try await starts.report(of: key, within: caller.reach, outlook, now: now) {
            return Contract.StartReport(reports, now: now)
        }
        _ = try await events.declared(key, within: caller.reach, now: now)
        throw Problem(.invalidRequest, "The event \(key) declares no start. Declare it with PUT /v1/events/\(key).")
    }
}
