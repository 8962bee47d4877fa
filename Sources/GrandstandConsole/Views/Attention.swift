internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// Something of a quota that a person should see to, the gravest first.
struct Attention: Sendable {
    /// `critical` or `warning`.
    let level: String
    let subject: String
    let text: String
    let href: String?
    let remedies: [Command]

    /// What one app and environment needs.
    static func list(_ quota: Quota) -> [Attention] {
        let app = AppEnvironment(bundleID: quota.bundleID, environment: quota.environment)
        var list: [Attention] = []
        func add(_ level: Quota.Level, _ text: String, _ href: String? = nil, _ remedies: [Command] = []) {
            list.append(
                Attention(
                    level: level.rawValue, subject: "\(app.bundleID), \(app.environment.rawValue)", text: text,
                    href: href, remedies: remedies))
        }
        switch quota.reconciliationAlarm {
        case .capabilityOff:
            add(
                .critical,
                "Every known channel vanished from Apple's list at once, as when the Broadcast Capability is turned off. "
                    + "Nothing was changed. \(Advice.capability) Channels do not come back with it: take the loss for true.",
                ConsolePath.reconciliations(app), [.reconcile(app, .recreate)])
        case .listIncomplete:
            add(
                .warning, "Apple's list lacked channels that Apple has; nothing was concluded from it. Compare again.",
                ConsolePath.reconciliations(app), [.reconcile(app, .look)])
        case .ambiguousCreation:
            add(
                .warning,
                "Apple did not answer a creation, and its list has channels that another system may have made as well. "
                    + "None was taken. Look at the unmanaged ones: adopt or delete them.",
                ConsolePath.link(ConsolePath.channels(app), [("managed", "false")]),
                [.reconcile(app, .adopt), .reconcile(app, .deleteUnmanaged)])
        case nil: break
        }
        if quota.isCapabilityOff {
            add(
                .critical, "Apple says that the app may not broadcast. \(Advice.capability)",
                ConsolePath.app(app.bundleID))
        }
        if let refused = quota.tokensRefused {
            add(.critical, Advice.tokens(refused), ConsolePath.app(app.bundleID), [.quota()])
        }
        for shrunk in quota.shrunkCalendars {
            add(.warning, "\(shrunk.finding). Look at its file; a sync by hand takes it or cancels what vanished.")
        }
        if quota.level != .ok {
            add(
                quota.level,
                "\(Wording.number(quota.used + quota.reserved)) of \(Wording.count(quota.capacity, "place")) are taken. End "
                    + "or cancel events that are over, or raise the app's limit.", ConsolePath.channels(app))
        }
        if let exceedsAt = quota.forecast.exceedsAt, quota.level != .critical {
            add(
                .warning,
                "At \(Moment(exceedsAt).text) the declared events need more than the "
                    + "\(Wording.count(quota.limit, "channel")) of the limit. Raise it, or open channels later.")
        }
        list += remainder(quota, app)
        return list.filter { $0.level == Quota.Level.critical.rawValue }
            + list.filter { $0.level != Quota.Level.critical.rawValue }
    }

    /// What differs between the ledger and Apple.
    private static func remainder(_ quota: Quota, _ app: AppEnvironment) -> [Attention] {
        let subject = "\(app.bundleID), \(app.environment.rawValue)"
        var list: [Attention] = []
        func add(_ text: String, _ filter: (name: String, value: String?), _ remedies: [Command]) {
            list.append(
                Attention(
                    level: Quota.Level.warning.rawValue, subject: subject, text: text,
                    href: ConsolePath.link(ConsolePath.channels(app), [filter]), remedies: remedies))
        }
        let failed = quota.byState[.failed, default: 0]
        if failed > 0 {
            add(
                "\(Wording.count(failed, "channel")) could not be created; the list says why.",
                ("state", Channel.State.failed.rawValue), [.doctor(app.bundleID)])
        }
        if quota.missing > 0 {
            add(
                "\(Wording.count(quota.missing, "channel")) of the ledger \(quota.missing == 1 ? "is" : "are") missing at "
                    + "Apple; live events get others by themselves.",
                ("state", Channel.State.missing.rawValue), [.reconcile(app, .look)])
        }
        if quota.unmanaged > 0 {
            add(
                "Apple has \(Wording.count(quota.unmanaged, "channel")) that nobody here made, or nobody remembers. They "
                    + "take places: adopt them or delete them.",
                ("managed", "false"), [.reconcile(app, .adopt), .reconcile(app, .deleteUnmanaged)])
        }
        return list
    }
}
