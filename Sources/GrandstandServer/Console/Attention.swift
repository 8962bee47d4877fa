internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// A problem of an app's channel quota that a person should solve. The overview shows all problems, `doctor` the alarms.
struct Attention: Sendable {
    /// `critical` or `warning`.
    let level: String
    let subject: String
    /// The alarm that stands; `nil`: the problem raises none.
    let alarm: Contract.QuotaAlarm?
    /// What is wrong, and what to do about an alarm.
    let text, advice: String
    let href: String?
    let remedies: [Command]

    /// The problems of one app in one environment.
    static func list(_ quota: Quota) -> [Attention] {
        let app = quota.place
        var list: [Attention] = []
        func add(
            _ level: Contract.QuotaLevel, _ text: String, _ href: String? = nil, _ remedies: [Command] = [],
            _ alarm: Contract.QuotaAlarm? = nil, _ advice: String = ""
        ) {
            list.append(
                Attention(
                    level: level.rawValue, subject: "\(app.bundleID), \(app.environment.rawValue)", alarm: alarm,
                    text: text, advice: advice, href: href, remedies: remedies))
        }
        func since(_ date: Date?) -> String { date.map { "Since \(Moment($0).text)." } ?? "" }
        func advice(_ refused: Contract.KeyRefused) -> String {
            let isShared = refused.reason == APNsReason.tooManyProviderTokenUpdates.rawValue
            let advice = isShared ? "Let nothing else sign with this key." : Advice.refusedKey(refused.keyId)
            return "\(refused.keyId), \(refused.reason). \(since(refused.since)) \(advice)"
        }
        func channels(_ name: String, _ value: String) -> String {
            ConsolePath.link(ConsolePath.channels(app), [(name, value)])
        }
        let page = ConsolePath.app(app.bundleID)
        for alarm in quota.alarms {
            let (advice, href, remedies): (String, String, [Command]) =
                switch alarm {
                case .keyRefused: (quota.keyRefused.map(advice) ?? "", page, [])
                case .keyMissing:
                    (
                        "Processes that have it send the app's messages; if none has, they wait. Put it into "
                            + "GRANDSTAND_APNS_KEY_DIR of each.", page, []
                    )
                case .capabilityOff where quota.reconciliationAlarm == .capabilityOff:
                    (
                        "Nothing was changed. \(Advice.capability) The channels do not come back when it is on again: "
                            + "accept the loss with the command.",
                        ConsolePath.reconciliations(app), [.reconcile(app, .recreate)]
                    )
                case .capabilityOff: (Advice.capability, page, [])
                case .nothingAccepted:
                    (
                        "\(since(quota.unacceptedSince)) Those that wait are sent as soon as it accepts them. In place of "
                            + "rejected and expired ones send the newest state.", page, [.doctor(app.bundleID)]
                    )
                case .quotaExhausted:
                    (
                        "\(since(quota.fullSince)) End or cancel events that are over, delete unmanaged channels, or ask "
                            + "Apple for more.", ConsolePath.channels(app), [.reconcile(app, .look)]
                    )
                case .listIncomplete: ("Reconcile again.", ConsolePath.reconciliations(app), [.reconcile(app, .look)])
                case .ambiguousCreation:
                    (
                        "The server adopted none of them: adopt or delete them.", channels("managed", "false"),
                        [.reconcile(app, .adopt), .reconcile(app, .deleteUnmanaged)]
                    )
                case .manyInstallations:
                    ("If the app was not just released, rotate its device key with the next release.", page, [])
                case .unknown: ("", page, [])
                }
            let isGrave = ![.listIncomplete, .ambiguousCreation, .manyInstallations].contains(alarm)
            let meaning = ContractText.help("Quota", "alarm", word: alarm.rawValue) ?? ""
            add(isGrave ? .critical : .warning, meaning, href, remedies, alarm, advice)
        }
        for throttle in quota.throttles {
            add(
                .warning,
                "\(throttle.sentence) Ends and alerts go first; more replicas or connections do not help.")
        }
        if quota.level != .ok, quota.fullSince == nil {
            add(
                quota.level,
                "\(Wording.number(quota.used + quota.reserved)) of \(Wording.count(quota.capacity, "place")) are "
                    + "taken. End or cancel events that are over, or raise the app's limit.", ConsolePath.channels(app))
        }
        if let exceedsAt = quota.forecast.exceedsAt, quota.level != .critical {
            add(
                .warning,
                "At \(Moment(exceedsAt).text) the declared events need more than the "
                    + "\(Wording.count(quota.limit, "channel")) of the limit. Raise it, or open channels later.")
        }
        let failed = quota.byState[.failed, default: 0]
        if failed > 0 {
            add(
                .warning, "\(Wording.count(failed, "channel")) could not be created; the list says why.",
                channels("state", Channel.State.failed.rawValue), [.doctor(app.bundleID)])
        }
        if quota.missing > 0 {
            add(
                .warning,
                "\(Wording.count(quota.missing, "channel")) of the ledger \(quota.missing == 1 ? "is" : "are") "
                    + "missing at Apple; live events get others by themselves.",
                channels("state", Channel.State.missing.rawValue), [.reconcile(app, .look)])
        }
        if quota.unmanaged > 0 {
            add(
                .warning,
                "Apple has \(Wording.count(quota.unmanaged, "channel")) that this server did not create, or no "
                    + "longer knows. They take places: adopt them or delete them.",
                channels("managed", "false"), [.reconcile(app, .adopt), .reconcile(app, .deleteUnmanaged)])
        }
        return list
    }
}

/// A shell command for an action that the console only explains. Its words are plain, so that the shell needs no quotes.
struct Command: Sendable, Equatable {
    /// What the command does.
    let what: String
    let line: String

    static func doctor(_ bundleID: BundleID) -> Command {
        Command(
            what: "Check keys, capability and the connection to Apple", line: "grandstand doctor --app \(bundleID)")
    }

    static func reconcile(_ app: AppEnvironment, _ doing: Reconciling) -> Command {
        let words = ["grandstand reconcile", app.bundleID.rawValue, app.environment.rawValue] + doing.flags
        return Command(what: doing.texts.label, line: words.joined(separator: " "))
    }
}
