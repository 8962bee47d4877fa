internal import Grandstand
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
                operation: .listReconciliations, caption: "Apple's list against the ledger, the newest first",
                nothing: "There was none yet.",
                columns: [
                    .link("startedAt", as: "Started"), Field("actor", as: "By"), did,
                    .number("apple", as: "Apple's list"), .number("ledger"), .number("matched", as: "In both"),
                    .many("missing"), .many("unmanaged"), .many("actions"),
                    Field("alarm") { .level(level: "critical", text: $0.string ?? "") },
                ])
        },
        detail: Detail(
            operation: .getReconciliation,
            title: { _, visit in "Reconciliation of \(visit.text("bundleId")), \(visit.text("environment"))" },
            notes: { report in
                let notes: [ResourcePage.Note] = report.texts("notes").map { ("warning", nil, $0) }
                guard let alarm = report["alarm"]?.string else { return notes }
                let meaning = ContractText.help("Reconciliation", "alarm", word: alarm) ?? ""
                let isOff = alarm == Contract.ReconciliationAlarm.capabilityOff.rawValue
                return [("critical", alarm, isOff ? "\(meaning) \(Advice.capability)" : meaning)] + notes
            },
            facts: [
                Field("startedAt", as: "Started"), Field("finishedAt", as: "Finished"), Field("actor", as: "By"), did,
                Field("apple", as: "Apple's list"), "ledger", Field("matched", as: "In both"),
            ],
            below: [
                Listing(
                    member: "actions", heading: "Plan", caption: "Actions, and whether they were carried out",
                    nothing: "There was nothing to do.", isCounted: true,
                    columns: [
                        "action", Field("channelId", as: "Apple's ID"),
                        Field("Event") { action, _ in
                            let variant = action["variant"]?.string.map { " (\($0))" } ?? ""
                            return [.words(action.text("eventKey") + variant)]
                        }, Field("Outcome") { action, _ in [.words(action.flag("done") ? "done" : "not done")] },
                        Field("Why") { action, _ in
                            let word = action.text("action")
                            let meaning = ContractText.help("ReconciliationAction", "action", word: word)
                            return [.words(meaning ?? word), .quoted(action.text("detail"))]
                        },
                    ]),
                Listing(
                    member: "missing", heading: "Missing at Apple",
                    caption: "Channels of the ledger that Apple no longer has", isCounted: true,
                    columns: [
                        Field("channelId", as: "Apple's ID"), "storagePolicy", Field("eventKey", as: "Event"),
                    ]),
                Listing(
                    member: "unmanaged", heading: "Unmanaged",
                    caption: "Channels of Apple's list that the ledger does not know", isCounted: true,
                    columns: [
                        Field("channelId", as: "Apple's ID"), "storagePolicy", Field("firstSeenAt", as: "First seen"),
                    ]),
            ]),
        actions: Reconciling.allCases.map { doing in
            Action(
                path: "/run/" + doing.rawValue, operation: .reconcile, label: doing.texts.label,
                words: [doing.texts.words],
                fixed: doing.fields, asks: doing != .look,
                isIrreversible: doing.isIrreversible, isOnObjects: true,
                isOffered: { shown in
                    guard let report = shown.object else { return doing == .look || doing == .apply }
                    return doing.makesSense(after: report)
                },
                notice: { _, _ in
                    doing == .look
                        ? "It only looked: nothing was changed."
                        : "It was carried out; see what became of each line."
                })
        })

    private static let did = Field("Did") { report, _ in
        [.words(report.flag("applied") ? "The actions were carried out." : "It only looked: nothing was changed.")]
    }
}

extension Field {
    /// A column with a number of findings. If a report is abridged, its cell refers to the full report.
    fileprivate static func many(_ name: String) -> Field {
        Field(Wording.label(name), isNumber: true) { report, _ in
            [.words(report[name]?.elements.map { Wording.number($0.count) } ?? "see the report")]
        }
    }
}

/// A kind of reconciliation that a person may run, with its description.
enum Reconciling: String, Sendable, CaseIterable {
    case look
    case apply
    case adopt
    case deleteUnmanaged = "delete-unmanaged"
    case recreate

    /// The text of the button that runs this reconciliation, and what it does.
    var texts: (label: String, words: String) {
        switch self {
        case .look:
            (
                "Compare now",
                "Reads Apple's list, compares it with the ledger and writes the plan down. Nothing is changed."
            )
        case .apply:
            (
                "Replace what is missing",
                "Compares once more and carries the plan out: what Apple lost is marked missing, and events that go on "
                    + "get new channels for it. Activities that follow a lost channel get nothing more."
            )
        case .adopt:
            (
                "Adopt what is unmanaged",
                "Carries the plan out and takes every channel into the ledger that Apple lists and nobody here knows. "
                    + "It counts against the app's limit from then on and can be deleted here."
            )
        case .deleteUnmanaged:
            (
                "Delete what is unmanaged",
                "Carries the plan out and deletes at Apple what Apple lists and nobody here knows, after the grace "
                    + "period and up to the limit of deletions for one run. Whoever follows such a channel gets "
                    + "nothing more. Apple cannot give a channel back."
            )
        case .recreate:
            (
                "Make all channels anew",
                "Accepts that every known channel is lost: all are given up, and every event that goes on gets a new "
                    + "one. Activities that follow the old channels get nothing more."
            )
        }
    }

    /// Whether the effect of this reconciliation cannot be undone.
    var isIrreversible: Bool { self == .deleteUnmanaged || self == .recreate }

    /// The flag beside `--apply`.
    private var isMore: Bool { self != .look && self != .apply }

    /// The flags of `grandstand reconcile` for this reconciliation.
    var flags: [String] { (self == .look ? [] : ["--apply"]) + (isMore ? ["--" + rawValue] : []) }

    /// The members of the request's body, as fields of a form.
    var fields: String {
        "apply=\(self != .look)" + (isMore ? "&\(self == .deleteUnmanaged ? "deleteUnmanaged" : rawValue)=true" : "")
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
