internal import APNsWire
internal import GrandstandContract
internal import JSON

extension Resource {
    /// `/console/apps`: the apps, their credentials, and where APNs differs from its documentation for them (quirks).
    static let apps = Resource(
        path: "/apps", scope: .operate, title: { _ in "Apps" },
        list: { _ in
            Listing(
                operation: .listApps,
                caption: "Apps, and whether the key files that sign for them can be used",
                nothing: "There is no app yet.",
                columns: [
                    .link("bundleId", to: "/apps/:bundleId"), "name",
                    Field("channelLimit", as: "Limit of channels"), keyFileField,
                ])
        },
        detail: Detail(
            operation: .getApp, path: "/:bundleId", title: { app, _ in app.text("name") },
            facts: [
                "bundleId", Field("topic") { .code($0.string ?? "") },
                Field("channelLimit", as: "Limit of channels in each environment"),
                Field("createdAt", as: "Registered"), Field("updatedAt", as: "Changed"),
                Field("deletingSince", as: "Deleted; its history is being removed since"),
            ] + APNsEnvironment.allCases.map(Field.credentials),
            below: [
                Listing(
                    member: "quirks", heading: "Quirks",
                    caption: "Where APNs does something else than Apple documents",
                    nothing: "None is known: APNs treats this app as Apple documents it.",
                    columns: [
                        "quirk", "environment", "value", "evidence", Field("learnedAt", as: "Learned"),
                    ])
            ]),
        actions: [
            Action(
                path: "", operation: .putApp, label: "Register the app",
                hidden: ["preview"],
                notice: { app, _ in "The app \(app.text("bundleId")) is registered." }),
            Action(
                path: "/:bundleId", operation: .putApp, label: "Change the app",
                notice: { _, _ in "The app was changed." }),
            Action(
                path: "/:bundleId/delete", operation: .deleteApp, label: "Delete the app",
                words: ["Takes an app away that has no channel and no event any more."],
                isIrreversible: true,
                notice: { _, _ in "The app is deleted. A long history is removed bit by bit." }),
        ])

    /// `development ok, production missing`
    private static let keyFileField = Field("Key files") { app, _ in
        [.words(APNsEnvironment.allCases.map { "\($0) \(app.keyFileState($0))" }.joined(separator: ", "))]
    }
}

extension Field {
    /// The credentials of an environment, and whether they can be used.
    fileprivate static func credentials(in environment: APNsEnvironment) -> Field {
        Field("Credentials in \(environment)") { app, visit in
            let own = app["environments"]?[environment.rawValue]
            let (team, key) = (own?["teamId"] ?? app["teamId"], own?["keyId"] ?? app["keyId"])
            let state = app.keyFileState(environment)
            let refusal = app["credentialRefusals"]?[environment.rawValue]
            let place = visit.fill("/apps/:bundleId/\(environment)")
            return [
                .words("team"), .code(team?.string ?? ""), .words("key"), .code(key?.string ?? ""), .state(state),
                .words(refusal?.text("reason") ?? ""),
                .words(
                    state == "ok" ? "" : ContractText.block("schemas", "CredentialState")[member: state]?.plain ?? ""),
                .link("Channels", place + "/channels"), .link("Reconciliations", place + "/reconciliations"),
            ]
        }
    }
}

extension JSONValue {
    /// Whether the key file of an environment can be used.
    fileprivate func keyFileState(_ environment: APNsEnvironment) -> String {
        self["credentials"]?[environment.rawValue]?.string ?? ""
    }
}
