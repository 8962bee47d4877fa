internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// `/console/season`: the calendar, and the forms that declare events.
struct SeasonPages: PageGroup {
    let apps: any AppStore
    let channels: any ChannelStore
    let events: any EventStore
    let tenure: ChannelTenure
    let operations: EventOperations

    /// The maximum number of events that are read for one page.
    private static let maximumEvents = 2_000
    /// Events that began up to this many seconds before the first day are also read, because they may still hold
    /// places.
    private static let before: TimeInterval = 2 * 86_400

    var routes: [PageRoute] {
        [PageRoute("/season", .organise, show), PageRoute("/season/declare", .organise, askForEvent)]
    }

    var actions: [ActionRoute] { [ActionRoute("/season/declare", .organise, declare)] }

    private func show(_ visit: Visit) async throws -> PageRoute.Answer {
        let first = SeasonDays.monday(try visit.query.date("from") ?? visit.now)
        let reach = visit.reach
        var contents = Season.Contents()
        let season = try visit.query.read("season", SeasonName.rule, SeasonName.init)
        var filter = EventFilter(
            season: season, from: first.addingTimeInterval(-Self.before),
            to: first.addingTimeInterval(Double(Season.length) * 86_400),
            within: reach)
        (contents.events, contents.isCut) = try await all(filter, visit.now)
        filter = EventFilter(season: season, overdueBy: tenure, within: reach)
        contents.overdue = try await events.events(where: filter, PageRequest(limit: 50, cursor: nil), now: visit.now)
            .items
        contents.quotas = try await channels.quotas(now: visit.now, tenure: tenure).filter {
            reach.covers($0.bundleID)
        }
        contents.showsForecasts = visit.key.holds(.operate)
        return .page(Season(contents, of: season, from: first, tenure: tenure, now: visit.now))
    }

    private func all(_ filter: EventFilter, _ now: Date) async throws -> ([Event], isCut: Bool) {
        var found: [Event] = []
        var cursor: String?
        repeat {
            let page = try await events.events(where: filter, PageRequest(limit: 200, cursor: cursor), now: now)
            found += page.items
            cursor = page.nextCursor
        } while cursor != nil && found.count < Self.maximumEvents
        return (found, cursor != nil)
    }

    private func askForEvent(_ visit: Visit) async throws -> PageRoute.Answer {
        .page(NewEvent(EventForm(), apps: try await known(visit)))
    }

    private func known(_ visit: Visit) async throws -> [App] {
        try await apps.apps(PageRequest(limit: 50, cursor: nil), within: visit.reach).items
    }

    private func declare(_ submission: Submission) async throws -> PageRoute.Answer {
        let draft = EventForm(submission.fields)
        let apps = try await known(submission.visit)
        let (body, found) = draft.body()
        var faults = found
        let key = EventKey(rawValue: draft.key)
        if key == nil { faults.append(.init(pointer: "key", detail: EventKey.rule)) }
        guard let key, faults.isEmpty else {
            return .refused(NewEvent(draft, apps: apps, faults: faults), status: 422)
        }
        do {
            let body = try JSONValue(parsing: body)
            let caller = try submission.visit.caller(of: .putEvent)
            do {
                _ = try await operations.put(key, body, if: .absent, caller)
            } catch let problem as Problem where problem.kind == .versionMismatch {
                // If the form was sent twice, the event is already declared with these values.
                guard try await operations.isDeclared(key, as: body, caller) else { throw problem }
            }
        } catch {
            guard let refusal = APIProblem(error) else { throw error }
            return .refused(NewEvent(draft, apps: apps, refusal: refusal), status: refusal.status)
        }
        return .done(ConsolePath.event(key), notice: "It is declared; its channels are made when their time comes.")
    }
}
