internal import Grandstand
internal import JSON

/// A reconciliation's report, read off the JSON it is kept as. What a newer version wrote and this one does not know is
/// left out; what is not there is empty.
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
    /// Channels.
    let missing: [JSONValue]
    let unmanaged: [JSONValue]
    /// The plan, and what became of it.
    let actions: [JSONValue]
    /// The lists were left out: the report itself has them.
    let isAbridged: Bool

    /// - Throws: `malformed-json`, which the database does not hold.
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
