package import FoundationEssentials
package import Grandstand

/// Calendars, as `CalendarStore` has them.
package struct FakeCalendars: CalendarStore {
    package typealias Save =
        @Sendable (CalendarName, CalendarDeclaration, WriteCondition) throws -> (
            calendar: FixtureCalendar, created: Bool
        )

    package var find: @Sendable (CalendarName) throws -> FixtureCalendar? = { _ in throw Unasked() }
    package var list: @Sendable (PageRequest, AppReach) throws -> Page<FixtureCalendar> = { _, _ in throw Unasked() }
    package var save: Save = { _, _, _ in throw Unasked() }
    package var remove: @Sendable (CalendarName) throws -> Void = { _ in throw Unasked() }
    package var carryOut: @Sendable (CalendarPlan.Wish, _ isRehearsal: Bool) throws -> CalendarReport = { _, _ in
        throw Unasked()
    }

    package init() {}

    package func put(
        _ name: CalendarName, _ declaration: CalendarDeclaration, within reach: AppReach, by actor: AuditActor,
        if condition: WriteCondition, now: Date
    ) async throws -> (calendar: FixtureCalendar, created: Bool) { try save(name, declaration, condition) }
    package func calendar(_ name: CalendarName) async throws -> FixtureCalendar? { try find(name) }
    package func calendars(_ page: PageRequest, within reach: AppReach) async throws -> Page<FixtureCalendar> {
        try list(page, reach)
    }
    package func delete(
        _ name: CalendarName, within reach: AppReach, by actor: AuditActor, now: Date
    ) async throws { try remove(name) }
    package func sync(
        _ calendar: FixtureCalendar, _ wish: CalendarPlan.Wish, isRehearsal: Bool, within reach: AppReach,
        by actor: AuditActor, tenure: ChannelTenure, now: Date
    ) async throws -> CalendarReport { try carryOut(wish, isRehearsal) }
    package func claimRefresh(now: Date, leasedUntil: Date) async throws -> FixtureCalendar? { throw Unasked() }
    package func concludeRefresh(of name: CalendarName, failure: String?, now: Date) async throws { throw Unasked() }
    package func nextRefresh() async throws -> Date? { throw Unasked() }
}

/// The web, as far as calendars are on it.
package struct FakeWeb: CalendarGateway {
    package var file: @Sendable (WebhookURL) -> CalendarFetch = { _ in .failed("nobody is there") }

    package init() {}

    package func fetch(_ url: WebhookURL, upTo limit: Int) async -> CalendarFetch { file(url) }
}
