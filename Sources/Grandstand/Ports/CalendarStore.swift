package import FoundationEssentials

/// Calendars, and what each of them said last.
package protocol CalendarStore: Sendable {
    /// Creates the calendar or declares it anew; its events stay as they are until it is synced.
    ///
    /// - Parameter reach: whose calendar may be replaced, and how far the server's own syncs of it reach.
    /// - Throws: `forbidden`, `version-mismatch`.
    func put(
        _ name: CalendarName, _ declaration: CalendarDeclaration, within reach: AppReach, by actor: AuditActor,
        if condition: WriteCondition, now: Date
    ) async throws -> (calendar: FixtureCalendar, created: Bool)

    func calendar(_ name: CalendarName) async throws -> FixtureCalendar?

    /// Those of which every app is within reach, in order of their names.
    func calendars(_ page: PageRequest, within reach: AppReach) async throws -> Page<FixtureCalendar>

    /// Forgets the calendar; its events stay.
    ///
    /// - Throws: `calendar-not-found`, `forbidden`.
    func delete(_ name: CalendarName, within reach: AppReach, by actor: AuditActor, now: Date) async throws

    /// Makes the calendar's events what it says, in one commit; or looks what that would do, and undoes it.
    ///
    /// - Parameters:
    ///   - calendar: as it was when the wish was read from its file.
    ///   - isRehearsal: nothing is changed.
    ///   - tenure: how long events hold their channels, for the forecasts.
    /// - Throws: `calendar-not-found`; `store-unavailable` when it was declared anew meanwhile; what a PUT of an event
    ///   throws.
    func sync(
        _ calendar: FixtureCalendar, _ wish: CalendarPlan.Wish, isRehearsal: Bool, within reach: AppReach,
        by actor: AuditActor, tenure: ChannelTenure, now: Date
    ) async throws -> CalendarReport

    // MARK: By itself

    /// Leases the calendar that is due longest; `nil`: none is.
    func claimRefresh(now: Date, leasedUntil: Date) async throws -> FixtureCalendar?

    /// Gives a leased calendar back, to be due again after its time.
    ///
    /// - Parameter failure: why its file was not taken; it is due sooner then.
    func concludeRefresh(of name: CalendarName, failure: String?, now: Date) async throws

    /// When the next calendar is due; `nil`: none will be.
    func nextRefresh() async throws -> Date?
}
