internal import APNsWire
internal import Grandstand

/// One app: its credentials, and what was learned of APNs' behaviour towards it.
struct AppDetail: ConsolePage {
    var template: TemplateName { .app }
    let title: String
    let bundleID: String
    let topic: String
    let limit: String
    let createdAt: Moment
    let updatedAt: Moment
    let environments: [CredentialsRow]
    let quirks: [QuirkRow]
    /// For who may change it.
    let form: AppForm?
    let action: String
    /// Every quirk there can be, in each environment, to be set by who knows better than was learned.
    let settings: [QuirkSetting]
    let commands: [Command]

    /// - Parameter quirks: departures from what Apple documents.
    init(
        _ app: App, keyFiles: [APNsEnvironment: KeyFileState], quirks: [Quirk], answer: JSONValue? = nil, _ visit: Visit
    ) {
        title = app.name
        bundleID = app.bundleID.rawValue
        topic = app.bundleID.topic
        limit = Wording.number(app.channelLimit)
        createdAt = Moment(app.createdAt)
        updatedAt = Moment(app.updatedAt)
        environments = APNsEnvironment.allCases.map { CredentialsRow(app, $0, keyFiles[$0] ?? .missing) }
        self.quirks = quirks.map(QuirkRow.init)
        let mayChange = visit.key.holds(.admin)
        form = mayChange ? AppForm(app, answer: answer) : nil
        action = ConsolePath.app(app.bundleID)
        settings =
            !mayChange
            ? []
            : APNsEnvironment.allCases.flatMap { environment in
                Quirk.Name.allCases.map { name in
                    QuirkSetting(
                        name, in: environment, of: app.bundleID,
                        quirks.first { $0.name == name && $0.environment == environment })
                }
            }
        commands = [.doctor(app.bundleID)]
    }
}

/// The credentials of one environment.
struct CredentialsRow: Sendable {
    let environment: String
    let teamID: String
    let keyID: String
    let keyFile: String
    let isFine: Bool
    let advice: String?
    let channelsHref: String
    let reconciliationsHref: String

    init(_ app: App, _ environment: APNsEnvironment, _ state: KeyFileState) {
        let credentials = app.credentials(in: environment)
        let place = AppEnvironment(bundleID: app.bundleID, environment: environment)
        self.environment = environment.rawValue
        teamID = credentials.teamID
        keyID = credentials.keyID
        keyFile = state.rawValue
        isFine = state == .ok
        let file = "AuthKey_\(credentials.keyID).p8"
        advice =
            switch state {
            case .ok: nil
            case .missing: "Put \(file) from Apple's developer account into the folder GRANDSTAND_APNS_KEY_DIR."
            case .unreadable: "\(file) cannot be read as Apple's PEM key: check its rights, or download it again."
            }
        channelsHref = ConsolePath.channels(place)
        reconciliationsHref = ConsolePath.reconciliations(place)
    }
}

/// One departure of APNs from its documentation.
struct QuirkRow: Sendable {
    let environment: String
    let quirk: String
    let value: String
    let documented: String
    let evidence: String
    let learnedAt: Moment
    /// `nil`: an admin set it, and it stays.
    let believedUntil: Moment?

    init(_ quirk: Quirk) {
        environment = quirk.environment.rawValue
        self.quirk = quirk.name.rawValue
        value = quirk.value
        documented = quirk.name.documented
        evidence = quirk.evidence
        learnedAt = Moment(quirk.learnedAt)
        believedUntil = quirk.believedUntil.map { Moment($0) }
    }
}

/// What APNs does in one respect, to be set.
struct QuirkSetting: Sendable {
    let quirk: String
    let environment: String
    let action: String
    let values: [Choice]

    /// - Parameter departure: `nil`: it does what Apple documents.
    init(_ name: Quirk.Name, in environment: APNsEnvironment, of bundleID: BundleID, _ departure: Quirk?) {
        quirk = name.rawValue
        self.environment = environment.rawValue
        action = "\(ConsolePath.app(bundleID))/\(environment.rawValue)/quirks/\(name.rawValue)"
        let value = departure?.value ?? name.documented
        values = name.values.map { Choice(value: $0, isChosen: $0 == value) }
    }
}
