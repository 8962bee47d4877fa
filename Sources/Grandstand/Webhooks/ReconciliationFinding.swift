internal import JSON

/// The part of a reconciliation's report that webhooks get. A run without news sends nothing.
struct ReconciliationFinding {
    private let report: JSONValue?
    private let standing: String?

    /// - Parameter note: contains `report`, as it is answered, and `standing`, the alarm before this run.
    init(_ note: JSONValue) {
        report = note["report"]
        standing = note["standing"]?.string
    }

    /// Whether the run found something new, acted, or raised another alarm, so that an unmanaged channel is not
    /// reported every hour.
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

    /// The number of unmanaged channels that this run saw first. All times of reports have the same format, so their
    /// texts compare as times do.
    private var newUnmanaged: Int {
        guard let startedAt = report?["startedAt"]?.string else { return 0 }
        return report?["unmanaged"]?.elements?.count { ($0["firstSeenAt"]?.string ?? "") >= startedAt } ?? 0
    }

    private func count(_ list: String) -> Int { report?[list]?.elements?.count ?? 0 }
}
