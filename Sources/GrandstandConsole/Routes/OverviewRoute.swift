internal import FoundationEssentials
internal import Grandstand

/// `/console`: the overview for ops; organisers find their events there.
struct OverviewRoute: Sendable {
    let channels: any ChannelStore
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
        let quotas = try await channels.quotas(now: visit.now, tenure: tenure)
            .compactMap { $0.shown(within: visit.reach) }
        return .page(Overview(quotas))
    }
}
