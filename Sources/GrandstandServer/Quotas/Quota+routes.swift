internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import NIOCore

/// `/v1/quotas`: how much of each app's limit is used, and when the app will exceed its limit.
extension API {
    var quotaRoutes: [Route] { [Route(.listQuotas, listQuotas), Route(.listQuotaHistory, listQuotaHistory)] }

    /// Answers with the quotas, sorted by bundle ID. The two environments of an app are together.
    private func listQuotas(_ request: Request, _ context: APIContext) async throws -> Response {
        let part = try context.query.page()
        let last = try part.cursor.map { text throws(Problem) in try PageCursor(text).key }
        // A space is smaller than all characters of a bundle ID, so this is the order of app and environment.
        let name: (Contract.Quota) -> String = { "\($0.bundleId.lowercased()) \($0.environment.rawValue)" }
        let quotas = try await stores.channels.quotas(now: now(), tenure: configuration.tenure)
            .filter { context.reach.covers($0.bundleID) }.map(Contract.Quota.init)
            .filter { name($0) > last ?? "" }.sorted { name($0) < name($1) }
        return .json(Contract.Page(rows: quotas, limit: part.limit) { PageCursor.text(0, name($0)) })
    }

    /// `/v1/quotas/history`: the use of each app's quota over time.
    private func listQuotaHistory(_ request: Request, _ context: APIContext) async throws -> Response {
        let wanted = try HistoryQuery(context, now: now())
        let samples = try await stores.channels.samples(wanted)
        guard samples.count <= HistoryQuery.maxSamples else {
            throw Problem.invalid(
                "This has more than \(HistoryQuery.maxSamples) samples.", at: "step",
                "Ask for a longer step, a shorter time, or one app.")
        }
        // The format of the answer depends on `Accept`, so caches must store JSON and CSV separately.
        let headers: HTTPFields = [.vary: "Accept"]
        let accept = request.headers[.accept]?.lowercased() ?? ""
        guard accept.contains("text/csv"), !accept.contains("application/json") else {
            return .json(
                Contract.QuotaHistory(from: wanted.from, to: wanted.to, step: wanted.step, items: samples),
                headers: headers)
        }
        let csv = ByteBuffer(string: Self.csv(samples))
        return .content("text/csv; charset=utf-8; header=present", csv, headers: headers)
    }

    /// The samples as CSV (RFC 4180). No value needs quoting: bundle IDs have neither commas nor quotes.
    private static func csv(_ samples: [Contract.QuotaSample]) -> String {
        samples.reduce(into: "bundleId,environment,at,used,reserved,peak,limit,created,deleted\r\n") { text, sample in
            let words = [
                sample.bundleId, sample.environment.rawValue, RFC3339.text(sample.at), "\(sample.used)",
                "\(sample.reserved)", "\(sample.peak)", "\(sample.limit)", "\(sample.created)", "\(sample.deleted)",
            ]
            text += words.joined(separator: ",") + "\r\n"
        }
    }
}

extension HistoryQuery {
    /// Reads the query. The default is the last day, with a step that fits the period.
    fileprivate init(_ context: APIContext, now: Date) throws(Problem) {
        let query = context.query
        let bundleID = try query.read("bundleId", BundleID.rule, BundleID.init)
        if let bundleID { try context.requireAccess(to: bundleID) }
        let to = try query.date("to") ?? now
        let from = try query.date("from") ?? to.addingTimeInterval(-86_400)
        guard from < to else {
            throw Problem.invalid(
                "from must be before to.", at: "from", "A time before that of the parameter to was expected.")
        }
        let step = try query.read("step", Self.stepRule, Self.seconds)
        self.init(
            environment: try query.choice("environment"), reach: bundleID.map { .only([$0]) } ?? context.reach,
            from: from, to: to, step: step ?? Self.step(from: from, to: to, now: now))
    }

    private static let stepRule = "300, 5m, 1h, 1d: a multiple of five minutes, up to 366 days."

    /// `300`, `300s`, `5m`, `1h`, `1d`
    private static func seconds(_ text: String) -> Int? {
        guard let match = text.wholeMatch(of: /([0-9]{1,8})([smhd]?)/), let number = Int(match.1) else { return nil }
        let seconds = number * ["m": 60, "h": 3_600, "d": 86_400][match.2, default: 1]
        return (fine...31_622_400).contains(seconds) && seconds.isMultiple(of: fine) ? seconds : nil
    }
}
