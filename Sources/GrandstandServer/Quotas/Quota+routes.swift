internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird

/// `/v1/quotas`: how much of each app's limit is used, and when the app will exceed its limit.
extension API {
    var quotaRoutes: [Route] { [Route(.listQuotas, listQuotas)] }

    /// Answers with the quotas, sorted by bundle ID. The two environments of an app are together.
    private func listQuotas(_ request: Request, _ context: APIContext) async throws -> Response {
        let part = try context.query.page()
        let last = try part.cursor.map { text throws(Problem) in try PageCursor(text).key }
        // A space is smaller than all characters of a bundle ID, so this is the order of app and environment.
        let name: (Quota) -> String = { "\($0.bundleID.topic) \($0.environment.rawValue)" }
        let quotas = try await stores.channels.quotas(now: now(), tenure: configuration.tenure)
            .filter { context.reach.covers($0.bundleID) && name($0) > last ?? "" }
            .sorted { name($0) < name($1) }
        let page = quotas.prefix(part.limit)
        return .json(
            Contract.Page(
                items: page.map { Contract.Quota($0) },
                nextCursor: quotas.count > page.count ? page.last.map { PageCursor.text(0, name($0)) } : nil))
    }
}
