internal import APNsWire
internal import FoundationEssentials
package import Grandstand
package import JSON

/// The report of an event's start: in total and for each audience.
struct StartReportsView: JSONObjectWritable {
    let reports: [(audience: Audience, report: StartReport)]
    let now: Date
    /// The actor who asked to start now, if somebody did.
    private var askedBy: String?

    init(reports: [(audience: Audience, report: StartReport)], now: Date) {
        self.reports = reports
        self.now = now
    }

    /// The same report with the actor who asked to start now.
    func asked(by: String?) -> Self {
        var view = self
        view.askedBy = by
        return view
    }

    func write(members object: inout JSONWriter) {
        let all = StartReport(of: reports.map(\.report))
        Self.write(all, now, to: &object)
        object.member("by", askedBy ?? all.by)
        object.objects("audiences", reports) { audience, entry in
            audience.member("bundleId", entry.audience.bundleID.rawValue)
            audience.member("environment", entry.audience.environment.rawValue)
            if let variant = entry.audience.variant { audience.member("variant", variant.rawValue) }
            Self.write(entry.report, now, to: &audience)
        }
    }

    private static func write(_ report: StartReport, _ now: Date, to object: inout JSONWriter) {
        let counts = report.counts
        object.member("state", report.state.rawValue)
        object.member("waitingFor", report.waitingFor?.rawValue)
        object.member("startedAt", report.startedAt)
        object.member("finishedAt", report.finishedAt)
        object.object("counts") { writer in
            writer.member("followers", counts.followers)
            writer.member("accepted", counts.accepted)
            writer.member("confirmed", counts.confirmed)
            writer.member("rejected", counts.rejected)
            writer.member("unknown", counts.unknown)
            writer.member("pending", counts.pending)
            writer.member(
                "ineligible",
                counts: StartForm.Ineligible.allCases.map { ($0.rawValue, counts.ineligible[$0] ?? 0) })
        }
        object.member("byReason", counts: report.byReason.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        // Rounded to one decimal.
        object.member("perSecond", raw: report.perSecond(at: now).map { Array(String(($0 * 10).rounded() / 10).utf8) })
    }
}

extension TopicFollowers: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("topic", topic.rawValue)
        object.member("followers", followers)
    }
}
