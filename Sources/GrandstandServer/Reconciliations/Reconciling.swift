internal import GrandstandContract
internal import JSON

/// A kind of reconciliation that a person may run, with its description.
enum Reconciling: String, Sendable, CaseIterable {
    case look
    case apply
    case adopt
    case deleteUnmanaged = "delete-unmanaged"
    case recreate

    /// The text of the button that runs this reconciliation.
    var label: String {
        switch self {
        case .look: "Compare now"
        case .apply: "Replace what is missing"
        case .adopt: "Adopt what is unmanaged"
        case .deleteUnmanaged: "Delete what is unmanaged"
        case .recreate: "Make all channels anew"
        }
    }

    var words: String {
        switch self {
        case .look: "Reads Apple's list, compares it with the ledger and writes the plan down. Nothing is changed."
        case .apply:
            "Compares once more and carries the plan out: what Apple lost is marked missing, and events that go on "
                + "get new channels for it. Activities that follow a lost channel get nothing more."
        case .adopt:
            "Carries the plan out and takes every channel into the ledger that Apple lists and nobody here knows. It "
                + "counts against the app's limit from then on and can be deleted here."
        case .deleteUnmanaged:
            "Carries the plan out and deletes at Apple what Apple lists and nobody here knows, after the grace "
                + "period and up to the limit of deletions for one run. Whoever follows such a channel gets "
                + "nothing more. Apple cannot give a channel back."
        case .recreate:
            "Accepts that every known channel is lost: all are given up, and every event that goes on gets a new "
                + "one. Activities that follow the old channels get nothing more."
        }
    }

    /// Whether the effect of this reconciliation cannot be undone.
    var isIrreversible: Bool { self == .deleteUnmanaged || self == .recreate }

    /// The flags of `grandstand reconcile` for this reconciliation.
    var flags: [String] {
        switch self {
        case .look: []
        case .apply: ["--apply"]
        case .adopt, .deleteUnmanaged, .recreate: ["--apply", "--" + rawValue]
        }
    }

    /// The members of the request's body.
    var body: [(name: String, value: Bool)] {
        let more = self == .deleteUnmanaged ? "deleteUnmanaged" : rawValue
        return [("apply", self != .look)] + (self == .look || self == .apply ? [] : [(more, true)])
    }

    /// Whether it makes sense after a reconciliation. After the alarm `capability-off`, only an explicit `recreate`
    /// replaces the channels.
    func makesSense(after report: JSONValue) -> Bool {
        let alarm = report["alarm"]?.string.map(Contract.ReconciliationAlarm.init)
        return switch self {
        case .look: true
        case .recreate: alarm == .capabilityOff
        case .apply:
            alarm != .capabilityOff && alarm != .listIncomplete && !report.flag("applied")
                && !(report.items("missing").isEmpty && report.items("actions").isEmpty)
        case .adopt, .deleteUnmanaged:
            alarm != .capabilityOff && alarm != .listIncomplete && !report.items("unmanaged").isEmpty
        }
    }
}
