internal import APNsWire
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The page of one app: its credentials, and how APNs behaves differently for it than documented.
struct AppDetail: ConsolePage {
    var template: TemplateName { .app }
    let title: String
    let facts: [Fact]
    let credentials: Table
    /// The app's content types.
    let contents: Table
    let quirks: Table
    /// `nil`: the key may not change the app.
    let form: AppForm?
    let action: String
    let commands: [Command]

    init(
        _ versioned: Versioned<Contract.App>, bundleID: BundleID, contents: [Contract.ContentType], _ visit: Visit
    ) {
        let app = versioned.value
        title = app.name
        var facts = [
            Fact("Bundle ID", .code(app.bundleId)), Fact("Topic", .code(app.topic)),
            Fact("Limit of channels", .words("\(Wording.number(app.channelLimit)) in each environment")),
            Fact("Registered", .moment(app.createdAt)), Fact("Changed", .moment(app.updatedAt)),
        ]
        if let since = app.deletingSince {
            facts.append(Fact("Deleted; its history is being removed since", .moment(since)))
        }
        self.facts = facts
        credentials = Self.credentials(app, bundleID)
        self.contents = Self.contents(contents)
        self.quirks = Table(
            "Where APNs does something else than Apple documents",
            nothing: "None is known: APNs treats this app as Apple documents it.", app.quirks,
            [
                Column("Quirk") { [.words($0.quirk.rawValue)] },
                Column("Environment") { [.words($0.environment.rawValue)] },
                Column("Value") { [.words($0.value.rawValue)] },
                Column("Documented") { [.words($0.quirk.documented?.rawValue ?? "")] },
                Column("Evidence") { [.quoted($0.evidence)] },
                Column("Learned") { [.moment($0.learnedAt)] },
            ])
        let mayChange = visit.key.holds(.admin) && app.deletingSince == nil
        form = mayChange ? AppForm(versioned) : nil
        action = ConsolePath.app(bundleID)
        commands = [.doctor(bundleID)]
    }

    private static func credentials(_ app: Contract.App, _ bundleID: BundleID) -> Table {
        Table(
            "Who signs in each environment", APNsEnvironment.allCases,
            [
                Column("Environment") { [.words($0.rawValue)] },
                Column("Team ID") { [.code(app.credentials(in: $0).teamID)] },
                Column("Key ID") { [.code(app.credentials(in: $0).keyID)] },
                Column("Key file") { keyFile(app, $0) },
                Column("More") { environment in
                    let place = AppEnvironment(bundleID: bundleID, environment: environment)
                    return [
                        .link("Channels", ConsolePath.channels(place)),
                        .link("Reconciliations", ConsolePath.reconciliations(place)),
                    ]
                },
            ])
    }

    private static func contents(_ contents: [Contract.ContentType]) -> Table {
        Table(
            "What its versions can decode, and which changes of a state ring",
            nothing: "None is declared: no content is checked, and every change of a state is an update.", contents,
            [
                Column("Type") { [.code($0.attributesType)] },
                Column("Versions") { [.quoted($0.versions.map(\.name).joined(separator: ", "))] },
                Column("Content that a version cannot decode") {
                    switch $0.check {
                    case .refuse: [.words("is refused")]
                    case .warn: [.words("is accepted with a warning")]
                    case .unknown(let word): [.words(word)]
                    }
                },
                Column("Quiet") { declared in
                    let rules = StateRules(stored: declared.rules)
                    guard !rules.quiet.isEmpty else { return [] }
                    return rules.quiet.map { .code($0.description) }
                        + [.words("at most once in \(Wording.count(rules.quietInterval, "second"))")]
                },
                Column.number("Rules that ring") { StateRules(stored: $0.rules).rings.count },
                Column("Changed") { [.moment($0.updatedAt)] },
            ])
    }

    /// Whether the key file can be used, and what to do if not.
    private static func keyFile(_ app: Contract.App, _ environment: APNsEnvironment) -> [Piece] {
        let keyID = app.credentials(in: environment).keyID
        let file = "AuthKey_\(keyID).p8"
        let state = app.credentials[environment.rawValue] ?? .missing
        let warning: [Piece] = [.level("warning", "warning"), .words(state.rawValue)]
        return switch state {
        case .ok, .unknown: [.words(state.rawValue)]
        case .missing:
            warning + [.line("Put \(file) from Apple's developer account into the folder GRANDSTAND_APNS_KEY_DIR.")]
        case .unreadable:
            warning + [.line("\(file) cannot be read as Apple's PEM key: check its rights, or download it again.")]
        case .refused:
            app.credentialRefusals[environment.rawValue].map { refusal in
                [
                    .level("critical", "critical"), .words("\(state.rawValue): \(refusal.reason) since"),
                    .moment(refusal.since), .line(Advice.refusedKey(keyID)),
                ]
            } ?? []
        }
    }
}
