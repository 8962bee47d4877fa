internal import APNsWire
internal import FoundationEssentials
package import Grandstand
internal import GrandstandContract
internal import Hummingbird
package import JSON

/// What phones showed, and when: reported by a sample of them, told to organisers.
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
        // Receipts of installations that were not asked would let senders shape the sample.
        let isSampled = sampling.includes(proof.id.id)
        let recorded = try await proof.proved(limits, at: arrivedAt) {
            try await receipts.record(
                isSampled ? batch : batch.emptied, of: proof.id, secret: proof.secret, now: arrivedAt)
        }
        return .json(RecordedView(recorded: recorded, ignored: batch.items.count - recorded))
    }

    private func report(_ request: Request, _ context: APIContext) async throws -> Response {
        let key = try context.eventKey()
        let reports = try await receipts.receipts(of: key, within: context.reach)
        return .json(ReceiptsView(share: sampling.share, reports: reports))
    }
}

extension ReceiptBatch {
    /// Reads the body of a report. The server's clock is taken when the request arrived, so that a slow body makes no
    /// clock look slow.
    init(body: JSONValue, arrivedAt: Date) throws(Problem) {
        var fields = JSONFields(body)
        let sentAt = fields.date("sentAt")
        var items: [Receipt] = []
        for (value, pointer) in fields.array("items", required: true, count: 1...Self.maximumItems) ?? [] {
            var nested = JSONFields(value, pointer: pointer)
            let key = nested.read("eventKey", EventKey.rule, required: true, EventKey.init)
            let timestamp = nested.integer("timestamp", in: 0...4_102_444_800, required: true)
            let shownAt = nested.date("shownAt", required: true)
            if let key, let timestamp, let shownAt {
                items.append(Receipt(eventKey: key, timestamp: timestamp, shownAt: shownAt))
            }
            fields.absorb(nested)
        }
        try fields.finish()
        self.init(items, sentAt: sentAt, arrivedAt: arrivedAt)
    }

    /// Proves the installation and says nothing.
    fileprivate var emptied: ReceiptBatch {
        var batch = self
        batch.items = []
        return batch
    }
}

private struct RecordedView: JSONObjectWritable {
    let recorded: Int
    let ignored: Int

    func write(members object: inout JSONWriter) {
        object.member("recorded", recorded)
        object.member("ignored", ignored)
    }
}

private struct ReceiptsView: JSONObjectWritable {
    let share: Double
    let reports: [(app: AppEnvironment, report: ReceiptReport)]

    func write(members object: inout JSONWriter) {
        object.member("share", raw: Array("\(share)".utf8))
        object.objects("audiences", reports) { object, entry in
            object.member("bundleId", entry.app.bundleID.rawValue)
            object.member("environment", entry.app.environment.rawValue)
            object.member("sample", entry.report.sample)
            object.member("newest", entry.report.newest)
            object.member("messages", entry.report.messages)
        }
    }
}

extension ReceiptReport.Message: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("timestamp", timestamp)
        object.member("acceptedAt", acceptedAt)
        object.member("shown", shown)
        object.member("clockUnknown", clockUnknown)
        object.member("shownEarly", shownEarly)
        object.member("seconds", seconds)
    }
}

extension Percentiles: JSONObjectWritable {
    /// To the tenth of a second, as they are counted.
    package func write(members object: inout JSONWriter) {
        object.member("p50", raw: Self.text(p50))
        object.member("p95", raw: Self.text(p95))
        object.member("p99", raw: Self.text(p99))
    }

    private static func text(_ seconds: Double) -> [UInt8] { Array("\((seconds * 10).rounded() / 10)".utf8) }
}
