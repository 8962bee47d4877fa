internal import FoundationEssentials
internal import Grandstand
internal import Hummingbird

/// `/v1/quotas`: how much of each app's limit is taken, and when it will not do any more.
struct QuotaRoutes: Sendable {
    let channels: any ChannelStore
    let tenure: ChannelTenure
    let now: @Sendable () -> Date

    var routes: [Route] { [Route(.get, "/v1/quotas", .scope(.operate), list)] }

    private func list(_ request: Request, _ context: APIContext) async throws -> Response {
        let quotas = try await channels.quotas(now: now(), tenure: tenure)
        let visible = quotas.filter { context.key?.covers($0.bundleID) ?? false }
        return .json(Page(items: visible, nextCursor: nil))
    }
}
