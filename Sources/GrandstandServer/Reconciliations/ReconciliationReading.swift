internal import Grandstand
internal import JSON

/// A reconciliation's report, read from the stored JSON. Members that a newer version added are ignored, and missing
/// members are empty.
struct ReconciliationReading: Sendable {
    let id: String
    let actor: String
    let startedAt: Moment?
    let finishedAt: Moment?
    let applied: Bool
    let apple: Int
    let ledger: Int
    let matched: Int
    let alarm: ReconciliationReport.Alarm?
    let notes: [String]
    /// Channels that Apple's list does not have.
    let missing: [JSONValue]
    let unmanaged: [JSONValue]
    /// The planned actions with their results.
    let actions: [JSONValue]
    /// Whether this report leaves out its lists; the full report contains the lists.
    let isAbridged: Bool

    /// - Throws: `malformed-json`, which stored reports never cause.
    init(_ bytes: [UInt8]) throws(Problem) {
        let json = try JSONValue(parsing: bytes, maximumValues: .max)
        id = json.text("id")
        actor = json.text("actor")
        startedAt = json.moment("startedAt")
        finishedAt = json.moment("finishedAt")
        applied = json.flag("applied")
        apple = json.integer("apple")
        ledger = json.integer("ledger")
        matched = json.integer("matched")
        alarm = ReconciliationReport.Alarm(rawValue: json.text("alarm"))
        notes = json.texts("notes")
        missing = json.items("missing")
        unmanaged = json.items("unmanaged")
        actions = json.items("actions")
        isAbridged = json.flag("abridged")
    }
}
