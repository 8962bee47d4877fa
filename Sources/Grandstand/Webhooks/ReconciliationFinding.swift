internal import FoundationEssentials
internal import GrandstandContract
internal import JSON

/// The part of a reconciliation's report that webhooks get. A run without news sends nothing.
struct ReconciliationFinding {
    private let report: JSONValue?
    private let standing: String?

    /// - Parameter note: contains `report`, as the API answers it, and `standing`, the alarm before this run.
    init(_ note: JSONValue) {
        report = note["report"]
        standing = note["standing"]?.string
    }

    /// Whether the run found something new, acted, or raised another alarm. Other runs send no message, so that an
    /// unmanaged channel is not reported every hour.
    var isNews: Bool {
        newUnmanaged > 0 || count("missing") > 0 || count("actions") > 0 || alarm != nil && alarm != standing
    }

    /// `nil` where the note lacks something.
    var found: Contract.ReconciliationFound? {
        guard let report, let id = report["id"]?.string, let bundleID = report["bundleId"]?.string,
            let environment = report["environment"]?.string,
            let startedAt = report["startedAt"]?.string.flatMap(RFC3339.date),
            let finishedAt = report["finishedAt"]?.string.flatMap(RFC3339.date),
            let applied = report["applied"].flatMap({ try? $0.decode(Bool.self) }),
            let apple = report["apple"]?.integer, let ledger = report["ledger"]?.integer
        else { return nil }
        return Contract.ReconciliationFound(
            id: id, bundleId: bundleID, environment: .init(rawValue: environment), startedAt: startedAt,
            finishedAt: finishedAt, applied: applied, apple: apple, ledger: ledger, missing: count("missing"),
            unmanaged: count("unmanaged"), newUnmanaged: newUnmanaged, actions: count("actions"),
            alarm: alarm.map { Contract.ReconciliationAlarm(rawValue: $0) })
    }

    private var alarm: String? { report?["alarm"]?.string }

    /// The number of unmanaged channels that were seen for the first time in this run. All times in reports have the
    /// same format, so their texts can be compared like times.
    private var newUnmanaged: Int {
        guard let startedAt = report?["startedAt"]?.string else { return 0 }
        return report?["unmanaged"]?.elements?.count { ($0["firstSeenAt"]?.string ?? "") >= startedAt } ?? 0
    }

    private func count(_ list: String) -> Int { report?[list]?.elements?.count ?? 0 }
}
