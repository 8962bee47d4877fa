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
        let last = try part.cursor.map { text throws(Problem) in try QuotaCursor(text) }
        let quotas = try await stores.channels.quotas(now: now(), tenure: configuration.tenure)
            .filter { context.reach.covers($0.bundleID) }
            .map { (cursor: QuotaCursor($0), quota: $0) }
            .sorted { $0.cursor < $1.cursor }
            .filter { row in last.map { $0 < row.cursor } ?? true }
            .map(\.quota)
        return .json(Contract.Page(Page(rows: quotas, limit: part.limit) { QuotaCursor($0).text }, Contract.Quota.init))
    }
}

/// The end of a page of quotas: an app in an environment.
struct QuotaCursor: Comparable {
    private let bundleID: BundleID
    private let environment: APNsEnvironment

    init(_ quota: Quota) {
        bundleID = quota.bundleID
        environment = quota.environment
    }

    /// Parses the text of a cursor.
    ///
    /// - Throws: `invalid-request` for anything else.
    init(_ text: String) throws(Problem) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let bundleID = BundleID(rawValue: parts[0]),
            let environment = APNsEnvironment(rawValue: parts[1])
        else {
            throw PageRequest.refusal
        }
        self.bundleID = bundleID
        self.environment = environment
    }

    var text: String { "\(bundleID)/\(environment.rawValue)" }

    static func < (one: Self, other: Self) -> Bool {
        (one.bundleID, one.environment) < (other.bundleID, other.environment)
    }
}
