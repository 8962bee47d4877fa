internal import JSON

/// What a reconciliation's report says to webhooks that hear of every run: only what no run before it had said.
struct ReconciliationFinding {
    private let report: JSONValue?
    private let standing: String?

    /// - Parameter note: `report`, as it is answered, and `standing`, the alarm before it.
    init(_ note: JSONValue) {
        report = note["report"]
        standing = note["standing"]?.string
    }

    /// Whether the run found what none had before, acted, or raised an alarm: an unmanaged channel is not reported
    /// every hour.
    var isNews: Bool {
        newUnmanaged > 0 || count("missing") > 0 || count("actions") > 0 || alarm != nil && alarm != standing
    }

    func write(members data: inout JSONWriter) {
        data.members(
            ["id", "bundleId", "environment", "startedAt", "finishedAt", "applied", "apple", "ledger"], of: report)
        data.member("missing", count("missing"))
        data.member("unmanaged", count("unmanaged"))
        data.member("newUnmanaged", newUnmanaged)
        data.member("actions", count("actions"))
        data.member("alarm", alarm)
    }

    private var alarm: String? { report?["alarm"]?.string }

    /// Unmanaged channels first seen by this run. Reports write all their times alike, so texts compare as times do.
    private var newUnmanaged: Int {
        guard let startedAt = report?["startedAt"]?.string else { return 0 }
        return report?["unmanaged"]?.elements?.count { ($0["firstSeenAt"]?.string ?? "") >= startedAt } ?? 0
    }

    private func count(_ list: String) -> Int { report?[list]?.elements?.count ?? 0 }
}
