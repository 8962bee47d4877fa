internal import FoundationEssentials
internal import Grandstand

/// `/console`: the overview for operators. Organisers get the list of events instead.
struct OverviewPages: PageGroup {
    let channels: ChannelStore
    let reader: EventReader
    let history: QuotaHistoryStore
    let activity: Console.Activity
    let tenure: ChannelTenure

    var routes: [PageRoute] { [PageRoute("", nil, show)] }

    private func show(_ visit: Visit) async throws -> PageRoute.Answer {
        guard visit.key.holds(.operate) else {
            if visit.key.holds(.organise) { return .elsewhere(ConsolePath.events) }
            throw Problem(
                .forbidden,
                "The console needs a key with the scope operate or organise; the key \(visit.key.name) has neither. Sign "
                    + "out, and in again with another one.")
        }
        let span = try visit.query.choice("span", Overview.Span.self) ?? .day
        let quotas = try await channels.quotas(now: visit.now, tenure: tenure)
            .filter { visit.reach.covers($0.bundleID) }
        let live = try await reader.events.agenda(
            where: EventFilter(state: .live, reach: visit.reach), limit: 20, now: visit.now)
        let samples = try await history.samples(
            QuotaHistory(
                reach: .only(Set(Overview.order(quotas).prefix(Overview.plotted).map(\.bundleID))),
                from: visit.now.addingTimeInterval(-span.seconds), to: visit.now, step: span.step))
        return .page(
            Overview(
                quotas, live: try await reader.rows(live), try await activity(visit.reach, visit.now), samples: samples,
                span: span, visit))
    }
}
