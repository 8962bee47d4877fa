internal import APNsWire
internal import Grandstand
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
                    .number("channelLimit", as: "Limit of channels"), keyFiles,
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
                        "quirk", "environment", "value",
                        Field("Documented") { quirk, _ in
                            [.words(Contract.QuirkName(rawValue: quirk.text("quirk")).documented?.rawValue ?? "")]
                        }, "evidence", Field("learnedAt", as: "Learned"),
                    ]),
                Listing(
                    operation: .listContents, heading: "Content types",
                    caption: "What its versions can decode, and which changes of a state ring",
                    nothing: "None is declared: no content is checked, and every change of a state is an update.",
                    columns: [
                        Field("Type") { type, _ in [.code(type.text("attributesType"))] },
                        Field("Versions") { type, _ in
                            [.quoted(type.items("versions").map { $0.text("name") }.joined(separator: ", "))]
                        }, Field("check", as: "Content that a version cannot decode"),
                        Field("rules", as: "Quiet") { .quoted($0.texts("quiet").joined(separator: ", ")) },
                        Field("rules", as: "Rules that ring") { .words(Wording.number($0.items("rings").count)) },
                        Field("updatedAt", as: "Changed"),
                    ]),
            ], commands: { [.doctor(try $0.bundleID())] }),
        actions: [
            Action(
                path: "", operation: .putApp, label: "Register the app",
                hidden: ["preview"],
                notice: { app, _ in "The app \(app.text("bundleId")) is registered." }),
            Action(
                path: "/:bundleId", operation: .putApp, label: "Change the app",
                isOffered: isKept, notice: { _, _ in "The app was changed." }),
            Action(
                path: "/:bundleId/delete", operation: .deleteApp, label: "Delete the app",
                words: [
                    "Takes an app away that has no channel and no event any more; with some the server refuses and says "
                        + "which."
                ], isIrreversible: true, isOffered: isKept,
                notice: { _, _ in "The app is deleted. A long history is removed bit by bit." }),
        ])

    /// `development ok, production missing`
    private static let keyFiles = Field("Key files") { app, _ in
        guard app["deletingSince"]?.string == nil else { return [.words("is being deleted")] }
        let states = APNsEnvironment.allCases.map { (name: $0.rawValue, state: app.keyFile($0)) }
        return (states.allSatisfy { $0.state == .ok } ? [] : [Piece.level(level: "warning", text: "warning")])
            + [.words(states.map { "\($0.name) \($0.state)" }.joined(separator: ", "))]
    }

    /// Whether the app is not being deleted.
    private static let isKept: @Sendable (Shown) -> Bool = { $0.object?["deletingSince"]?.string == nil }
}

extension Field {
    /// The credentials of an environment, whether they can be used, and what to do if not.
    fileprivate static func credentials(in environment: APNsEnvironment) -> Field {
        Field("Credentials in \(environment)") { app, visit in
            let own = app["environments"]?[environment.rawValue]
            let keyID = own?["keyId"]?.string ?? app.text("keyId")
            let file = "AuthKey_\(keyID).p8"
            let state = app.keyFile(environment)
            let (level, advice) =
                switch state {
                case .ok, .unknown: ("", "")
                case .missing:
                    ("warning", "Put \(file) from Apple's developer account into the folder GRANDSTAND_APNS_KEY_DIR.")
                case .unreadable:
                    ("warning", "\(file) cannot be read as Apple's PEM key: check its rights, or download it again.")
                case .refused: ("critical", Advice.refusedKey(keyID))
                }
            let refusal = state == .refused ? app["credentialRefusals"]?[environment.rawValue] : nil
            let reason = refusal.map { ": \($0.text("reason")) since" } ?? ""
            let place = visit.fill("/apps/:bundleId/\(environment)")
            return [.words("team"), .code(own?["teamId"]?.string ?? app.text("teamId")), .words("key"), .code(keyID)]
                + (level.isEmpty ? [] : [.level(level: level, text: level)]) + [
                    .words(state.rawValue + reason), .moment(refusal.flatMap { RFC3339.date($0.text("since")) }),
                    .line(advice),
                    .link("Channels", place + "/channels"), .link("Reconciliations", place + "/reconciliations"),
                ]
        }
    }
}

extension JSONValue {
    /// Whether the key file of an environment can be used.
    fileprivate func keyFile(_ environment: APNsEnvironment) -> Contract.CredentialState {
        self["credentials"]?[environment.rawValue]?.string.map(Contract.CredentialState.init) ?? .missing
    }
}
