internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// Receipts of messages: a sample of phones reports what they showed and when, and organisers read the summary.
struct ReceiptRoutes: Sendable {
    let receipts: any ReceiptStore
    let sampling: ReceiptSampling
    let limits: RateLimits
    let now: @Sendable () -> Date

    var routes: [Route] {
        [
            Route(.recordReceipts, record),
            Route(.eventReceipts, report),
        ]
    }

    private func record(_ request: Request, _ context: APIContext) async throws -> Response {
        let arrivedAt = now()
        let proof = try InstallationProof(request, context)
        let batch = try ReceiptBatch(body: try await request.json(), arrivedAt: arrivedAt)
        // Receipts of installations outside the sample are dropped, because senders could otherwise distort the sample.
        let isSampled = sampling.includes(proof.id.id)
        let recorded = try await proof.proved(limits, at: arrivedAt) {
            try await receipts.record(
                isSampled ? batch : batch.emptied, of: proof.id, secret: proof.secret, now: arrivedAt)
        }
        return .json(Contract.RecordedReceipts(recorded: recorded, ignored: batch.items.count - recorded))
    }

    private func report(_ request: Request, _ context: APIContext) async throws -> Response {
        let key = try context.eventKey()
        let reports = try await receipts.receipts(of: key, within: context.reach)
        return .json(Contract.EventReceipts(reports, share: sampling.share))
    }
}

extension ReceiptBatch {
    /// Reads the body of a report. `arrivedAt` is the time when the request arrived; otherwise a slow upload would look
    /// like a phone whose clock is slow.
    init(body: JSONValue, arrivedAt: Date) throws(Problem) {
        let batch = try Contract.ReceiptBatch.read(body)
        self.init(
            try batch.items.map { item throws(Problem) in
                Receipt(
                    eventKey: try EventKey(allowed: item.eventKey), timestamp: item.timestamp, shownAt: item.shownAt)
            }, sentAt: batch.sentAt, arrivedAt: arrivedAt)
    }

    /// A batch without receipts, which still proves the installation's secret.
    fileprivate var emptied: ReceiptBatch {
        var batch = self
        batch.items = []
        return batch
    }
}

extension Contract.EventReceipts {
    /// - Parameter share: the share of installations that are asked for receipts.
    init(_ reports: [(app: AppEnvironment, report: ReceiptReport)], share: Double) {
        self.init(
            share: share,
            audiences: reports.map { app, report in
                Contract.AudienceReceipts(
                    bundleId: app.bundleID.rawValue, environment: .init(app.environment), sample: report.sample,
                    newest: report.newest.map(Contract.MessageReceipts.init),
                    messages: report.messages.map(Contract.MessageReceipts.init))
            })
    }
}

extension Contract.MessageReceipts {
    init(_ message: ReceiptReport.Message) {
        self.init(
            timestamp: message.timestamp, acceptedAt: message.acceptedAt, shown: message.shown,
            clockUnknown: message.clockUnknown, shownEarly: message.shownEarly,
            // Times are stored to the tenth of a second.
            seconds: message.seconds.map {
                Contract.Percentiles(p50: $0.p50.tenths, p95: $0.p95.tenths, p99: $0.p99.tenths)
            })
    }
}
