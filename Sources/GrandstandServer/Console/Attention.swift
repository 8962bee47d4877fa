internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// A problem of an app's channel quota that a person should solve.
struct Attention: Sendable {
    /// `critical` or `warning`.
    let level: String
    let subject: String
    let text: String
    let href: String?
    let remedies: [Command]

    /// The problems of one app in one environment.
    static func list(_ quota: Quota) -> [Attention] {
        let app = quota.place
        var list: [Attention] = []
        func add(_ level: Contract.QuotaLevel, _ text: String, _ href: String? = nil, _ remedies: [Command] = []) {
            list.append(
                Attention(
                    level: level.rawValue, subject: "\(app.bundleID), \(app.environment.rawValue)", text: text,
                    href: href, remedies: remedies))
        }
        func channels(_ name: String, _ value: String) -> String {
            ConsolePath.link(ConsolePath.channels(app), [(name, value)])
        }
        switch quota.reconciliationAlarm {
        case .capabilityOff:
            add(
                .critical,
                "Every known channel vanished from Apple's list at once, as when the Broadcast Capability is turned "
                    + "off. Nothing was changed. \(Advice.capability) The channels do not come back when it is on "
                    + "again: accept the loss with the command below.",
                ConsolePath.reconciliations(app), [.reconcile(app, .recreate)])
        case .listIncomplete:
            add(
                .warning, "Apple's list lacked channels that Apple has, so it was ignored. Reconcile again.",
                ConsolePath.reconciliations(app), [.reconcile(app, .look)])
        case .ambiguousCreation:
            add(
                .warning,
                "Apple did not answer a request to create a channel. Channels in its list may be the result, or "
                    + "another system's. The server adopted none of them. Check the unmanaged channels: adopt or "
                    + "delete them.",
                channels("managed", "false"),
                [.reconcile(app, .adopt), .reconcile(app, .deleteUnmanaged)])
        case .unknown, nil: break
        }
        if let refused = quota.keyRefused {
            add(
                .critical,
                "APNs refuses the key \(refused.credentials.keyID) since \(Moment(refused.refusal.since).text): "
                    + "\(refused.refusal.reason). Nothing is sent with it until APNs accepts the key. "
                    + Advice.refusedKey(refused.credentials.keyID), ConsolePath.app(app.bundleID))
        }
        if quota.isKeyMissing {
            add(
                .critical,
                "A process of the server lacks the app's key file, or cannot read it. Its log names the file. "
                    + "Processes that have it send the app's messages; if there is none, they wait.",
                ConsolePath.app(app.bundleID))
        }
        if quota.isCapabilityOff {
            add(
                .critical, "Apple says that the app may not broadcast. \(Advice.capability)",
                ConsolePath.app(app.bundleID))
        }
        if quota.isNothingAccepted, let since = quota.unacceptedSince {
            add(
                .critical,
                "APNs has accepted no broadcast since \(Moment(since).text), although some fail or wait. Those that "
                    + "wait are sent as soon as it accepts them. In place of rejected and expired ones send the newest "
                    + "state.",
                ConsolePath.app(app.bundleID), [.doctor(app.bundleID)])
        }
        if let since = quota.fullSince {
            add(
                .critical,
                "Apple refuses to create channels since \(Moment(since).text), because it has no place left for the app. "
                    + "End or cancel events that are over, delete unmanaged channels, or ask Apple for more.",
                ConsolePath.channels(app), [.reconcile(app, .look)])
        }
        for throttle in quota.throttles {
            add(
                .warning,
                "\(throttle.sentence) Ends and alerts go first; more replicas or connections do not help.")
        }
        if quota.devices.isSurging {
            let new = max(quota.devices.created, quota.devices.createdBefore)
            add(
                .warning,
                "\(Wording.count(new, "installation")) of \(Wording.number(quota.devices.installations)) are new "
                    + "within an hour. If the app was not released just now, somebody creates false ones with its "
                    + "device key: rotate the key with the next release, and revoke the old one.",
                ConsolePath.app(app.bundleID))
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
        return Command(what: doing.label, line: words.joined(separator: " "))
    }
}
