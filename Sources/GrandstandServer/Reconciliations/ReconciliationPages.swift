internal import GrandstandContract
internal import JSON

extension Resource {
    /// `/console/apps/{bundleId}/{environment}/reconciliations`: the reports, and the forms that run a reconciliation.
    static let reconciliations = Resource(
        path: "/apps/:bundleId/:environment/reconciliations", scope: .operate,
        links: ["The app": "/apps/:bundleId", "Channels": "/apps/:bundleId/:environment/channels"],
        title: { "Reconciliations of \($0.text("bundleId")), \($0.text("environment"))" },
        list: { _ in
            Listing(
                operation: .listReconciliations, caption: "Apple's list against the ledger",
                nothing: "There was none yet.",
                columns: [.link("id"), "startedAt"] + runFields + ["alarm"])
        },
        detail: Detail(
            operation: .getReconciliation,
            title: { _, visit in "Reconciliation of \(visit.text("bundleId"))" },
            facts: ["environment", "startedAt", "finishedAt"] + runFields + ["alarm"],
            below: [
                Listing(
                    member: "actions", heading: "Plan", caption: "Actions",
                    nothing: "There was nothing to do.",
                    columns: [
                        "action", Field("channelId", as: "Apple's ID"), Field("eventKey", as: "Event"), "variant",
                        "done",
                        Field("Why") { action, _ in
                            let word = action.text("action")
                            let meaning = ContractText.help("ReconciliationAction", "action", word: word)
                            return [.words(meaning ?? word), .quoted(action.text("detail"))]
                        },
                    ])
            ]),
        actions: ReconcileKind.allCases.map { doing in
            Action(
                path: "/run/" + doing.rawValue, operation: .reconcile, label: doing.texts.label,
                words: [doing.texts.words], presets: doing.presets, hasPage: doing != .look,
                isIrreversible: doing.isIrreversible,
                notice: { _, _ in "Each line says whether it was carried out." })
        })

    private static let runFields: [Field] = [
        Field("actor", as: "By"), "applied", Field("apple", as: "Apple's list"), "ledger",
        Field("matched", as: "In both"),
    ]
}

/// A kind of reconciliation that a person may run, with its description.
enum ReconcileKind: String, Sendable, CaseIterable {
    case look
    case apply
    case adopt
    case deleteUnmanaged = "delete-unmanaged"
    case recreate

    /// The text of the button that runs this reconciliation, and what it does.
    var texts: (label: String, words: String) {
        switch self {
        case .look: ("Compare now", "Compares Apple's list with the ledger. Nothing is changed.")
        case .apply: ("Replace what is missing", "Events that go on get new channels for what Apple lost.")
        case .adopt: ("Adopt what is unmanaged", "Channels that only Apple knows get into the ledger.")
        case .deleteUnmanaged:
            ("Delete what is unmanaged", "Deletes what only Apple knows, after its grace. Apple gives none back.")
        case .recreate:
            (
                "Make all channels anew",
                "If Apple has no known channel, events that go on get new ones. Followers of the old get nothing more."
            )
        }
    }

    /// Whether the effect of this reconciliation cannot be undone.
    var isIrreversible: Bool { self == .deleteUnmanaged || self == .recreate }

    /// Whether it does more than to carry the plan out.
    private var hasExtra: Bool { self != .look && self != .apply }

    /// The members of the request's body, as fields of a form.
    var presets: String {
        let member = self == .deleteUnmanaged ? "deleteUnmanaged" : rawValue
        return "apply=\(self != .look)" + (hasExtra ? "&\(member)=true" : "")
    }
}
