internal import Grandstand

/// A reconciliation's report, read off the JSON it is kept as. What a newer version wrote and this one does not know is
/// left out; what is not there is empty.
struct ReconciliationReading: Sendable {
    struct Channel: Sendable {
        let id: String
        let channelID: String
        let storagePolicy: String
        let eventKey: String
        let variant: String
        let firstSeenAt: String?
    }

    struct Action: Sendable {
        let name: String
        let channelID: String
        let eventKey: String
        let variant: String
        let done: Bool
        let detail: String
    }

    let id: String
    let actor: String
    let startedAt: String
    let finishedAt: String
    let applied: Bool
    let apple: Int
    let ledger: Int
    let matched: Int
    let alarm: ReconciliationReport.Alarm?
    let notes: [String]
    let missing: [Channel]
    let unmanaged: [Channel]
    let actions: [Action]
    /// The lists were left out: the report itself has them.
    let isAbridged: Bool

    /// - Throws: `malformed-json`, which the database does not hold.
    init(_ bytes: [UInt8]) throws(Problem) {
        let json = try JSONValue(parsing: bytes, maximumValues: .max)
        id = json.text("id")
        actor = json.text("actor")
        startedAt = json.text("startedAt")
        finishedAt = json.text("finishedAt")
        applied = json.flag("applied")
        apple = json.integer("apple")
        ledger = json.integer("ledger")
        matched = json.integer("matched")
        alarm = ReconciliationReport.Alarm(rawValue: json.text("alarm"))
        notes = json.items("notes").compactMap(\.string)
        missing = json.items("missing").map(Channel.init)
        unmanaged = json.items("unmanaged").map(Channel.init)
        actions = json.items("actions").map(Action.init)
        isAbridged = json.flag("abridged")
    }
}

extension ReconciliationReading.Channel {
    /// The event, and which of its variants the channel is for.
    var event: String { Wording.event(eventKey, variant) }

    fileprivate init(_ json: JSONValue) {
        let firstSeenAt = json.text("firstSeenAt")
        self.init(
            id: json.text("id"), channelID: json.text("channelId"), storagePolicy: json.text("storagePolicy"),
            eventKey: json.text("eventKey"), variant: json.text("variant"),
            firstSeenAt: firstSeenAt.isEmpty ? nil : firstSeenAt)
    }
}

extension ReconciliationReading.Action {
    var event: String { Wording.event(eventKey, variant) }

    fileprivate init(_ json: JSONValue) {
        self.init(
            name: json.text("action"), channelID: json.text("channelId"), eventKey: json.text("eventKey"),
            variant: json.text("variant"), done: json.flag("done"), detail: json.text("detail"))
    }
}
