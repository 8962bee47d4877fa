internal import Grandstand
internal import GrandstandContract
internal import JSON

extension Resource {
    /// `/console/apps/{bundleId}/{environment}/reconciliations`: the reports, and the forms that run a reconciliation.
    static let reconciliations = Resource(
        path: "/apps/:bundleId/:environment/reconciliations", scope: .operate,
        links: { visit in
            [
                Piece.Link(label: "The app", href: visit.fill("/apps/:bundleId")),
                Piece.Link(label: "Channels", href: visit.fill("/apps/:bundleId/:environment/channels")),
            ]
        }, title: { "Reconciliations of \($0.text("bundleId")), \($0.text("environment"))" },
        list: { _ in
            Listing(
                source: .operation(.listReconciliations), caption: "Apple's list against the ledger, the newest first",
                nothing: "There was none yet.", limit: 20,
                columns: [
                    .link("startedAt", as: "Started"), Field("actor", as: "By"), .did,
                    .number("apple", as: "Apple's list"), .number("ledger"), .number("matched", as: "In both"),
                    .many("missing"), .many("unmanaged"), .many("actions"),
                    Field("alarm") { .level("critical", $0.string ?? "") },
                ])
        },
        detail: Detail(
            operation: .getReconciliation,
            title: { _, visit in "Reconciliation of \(visit.text("bundleId")), \(visit.text("environment"))" },
            notes: { report in
                let alarm = report["alarm"]?.string.map { alarm in
                    let meaning = ContractText.help("Reconciliation", "alarm", word: alarm) ?? ""
                    let isOff = alarm == Contract.ReconciliationAlarm.capabilityOff.rawValue
                    return ResourcePage.Note(
                        noteLevel: "critical", isAlert: true, noteMark: alarm,
                        noteText: isOff ? "\(meaning) \(Advice.capability)" : meaning)
                }
                return [alarm].compactMap(\.self)
                    + report.texts("notes").map { ResourcePage.Note(noteLevel: "warning", noteText: $0) }
            },
            facts: [
                Field("startedAt", as: "Started"), Field("finishedAt", as: "Finished"), Field("actor", as: "By"), .did,
                Field("apple", as: "Apple's list"), "ledger", Field("matched", as: "In both"),
            ],
            below: [
                Listing(
                    source: .member("actions"), heading: "Plan", caption: "Actions, and whether they were carried out",
                    nothing: "There was nothing to do.", isCounted: true,
                    columns: [
                        "action", Field("channelId", as: "Apple's ID"),
                        Field("Event") { action, _ in
                            [.words(Wording.event(action.text("eventKey"), action.text("variant")))]
                        }, Field("Outcome") { action, _ in [.words(action.flag("done") ? "done" : "not done")] },
                        Field("Why") { action, _ in
                            let word = action.text("action")
                            let meaning = ContractText.help("ReconciliationAction", "action", word: word)
                            return [.words(meaning ?? word), .quoted(action.text("detail"))]
                        },
                    ]),
                Listing(
                    source: .member("missing"), heading: "Missing at Apple",
                    caption: "Channels of the ledger that Apple no longer has", isCounted: true,
                    columns: [
                        Field("channelId", as: "Apple's ID"), "storagePolicy", Field("eventKey", as: "Event"),
                    ]),
                Listing(
                    source: .member("unmanaged"), heading: "Unmanaged",
                    caption: "Channels of Apple's list that the ledger does not know", isCounted: true,
                    columns: [
                        Field("channelId", as: "Apple's ID"), "storagePolicy", Field("firstSeenAt", as: "First seen"),
                    ]),
            ]),
        actions: Reconciling.allCases.map { doing in
            Action(
                path: "/run/" + doing.rawValue, operation: .reconcile, label: doing.label, words: [doing.words],
                fixed: doing.body, asks: doing != .look,
                isIrreversible: doing.isIrreversible, isOnObjects: true,
                isOffered: { shown in
                    guard let report = shown.object else { return doing == .look || doing == .apply }
                    return doing.makesSense(after: report)
                }, next: .made,
                notice: { _, _ in
                    doing == .look
                        ? "It only looked: nothing was changed."
                        : "It was carried out; see what became of each line."
                })
        })
}

extension Field {
    fileprivate static let did = Field("Did") { report, _ in
        [.words(report.flag("applied") ? "The actions were carried out." : "It only looked: nothing was changed.")]
    }

    /// A column with a number of findings. If a report is abridged, its cell refers to the full report.
    fileprivate static func many(_ name: String) -> Field {
        var field = Field(Wording.label(name)) { report, _ in
            [.words(report[name]?.elements.map { Wording.number($0.count) } ?? "see the report")]
        }
        field.isNumber = true
        return field
    }
}
