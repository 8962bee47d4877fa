internal import Grandstand
internal import GrandstandContract

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

    func options(within limits: ReconciliationOptions) -> ReconciliationOptions {
        ReconciliationOptions(
            apply: self != .look, adopt: self == .adopt, deleteUnmanaged: self == .deleteUnmanaged,
            recreate: self == .recreate, grace: limits.grace, deleteBudget: limits.deleteBudget)
    }

    /// Describes an action of a report. A word that a newer version wrote is returned unchanged.
    static func meaning(of action: Contract.ReconciliationActionName) -> String {
        switch action {
        case .markMissing:
            "Apple no longer has this channel: it is marked missing, and an event that needs it gets another."
        case .restore: "It was missing and is listed again: it serves its event again."
        case .confirm: "Apple refused a message to it, but still has it: it stays."
        case .release:
            "It was given up and is listed again, but its event has another channel: adopt it or delete it yourself."
        case .deleteAgain:
            "Apple confirmed its deletion but still lists it: the server asks Apple again to delete it."
        case .settle:
            "It was created by a request that Apple did not answer: it goes to the event that it was created for."
        case .reopen:
            "Apple did not answer a request for a channel, and no listed channel is surely its result: the "
                + "server asks for one again."
        case .contest: "A request that Apple did not answer, or somebody else, may have created it: no event gets it."
        case .adopt: "It becomes a channel of the ledger."
        case .deleteUnmanaged: "It is deleted at Apple."
        case .recreate: "It is given up, and an event that needs it gets a new one."
        case .unknown(let word): word
        }
    }
}
