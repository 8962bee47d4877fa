internal import APNsWire
internal import Grandstand
internal import GrandstandContract

/// A problem of an app's channel quota that a person should solve. The overview shows all problems, `doctor` the alarms.
struct Attention: Sendable {
    /// `critical` or `warning`.
    let level: String
    let subject: String
    /// The alarm that stands; `nil`: the problem raises none.
    let alarm: Contract.QuotaAlarm?
    /// What is wrong, and what the runbook says about an alarm.
    let text, advice: String
    /// The page with the app's channels.
    let href: String

    /// The problems of one app in one environment.
    static func list(_ quota: Quota) -> [Attention] {
        let app = quota.app
        var list: [Attention] = []
        func add(
            _ level: Contract.QuotaLevel, _ text: String, _ alarm: Contract.QuotaAlarm? = nil, _ advice: String = ""
        ) {
            list.append(
                Attention(
                    level: level.rawValue, subject: "\(app.bundleID), \(app.environment.rawValue)", alarm: alarm,
                    text: text, advice: advice, href: ConsolePath.channels(app)))
        }
        for alarm in quota.alarms {
            let isGrave = ![.listIncomplete, .ambiguousCreation, .manyInstallations].contains(alarm)
            let meaning = ContractText.help("Quota", "alarm", word: alarm.rawValue) ?? ""
            let refused = alarm == .keyRefused ? quota.keyRefused.map { " \($0.keyId): \($0.reason)." } ?? "" : ""
            let advice = DoctorCheck.advice(alarm.rawValue, refused) ?? ""
            add(isGrave ? .critical : .warning, meaning + refused, alarm, advice)
        }
        for throttle in quota.throttles {
            add(
                .warning,
                "\(throttle.sentence) Ends and alerts go first; more replicas or connections do not help.")
        }
        if quota.level != .ok, quota.fullSince == nil {
            add(
                quota.level,
                "\(Wording.number(quota.taken)) of \(Wording.count(quota.capacity, "place")) are taken. End or cancel "
                    + "events that are over, or raise the app's limit.")
        }
        if let exceedsAt = quota.forecast.exceedsAt, quota.level != .critical {
            add(
                .warning,
                "At \(Moment(exceedsAt).text) the declared events need more than the "
                    + "\(Wording.count(quota.limit, "channel")) of the limit. Raise it, or open channels later.")
        }
        for (count, words) in [
            (quota.byState[.failed, default: 0], "not created. The list says why."),
            (quota.missing, "missing at Apple. Live events get others by themselves."),
            (quota.unmanaged, "on Apple's list only. They take places: adopt or delete them in a reconciliation."),
        ] where count > 0 {
            add(.warning, "\(Wording.count(count, "channel")) \(words)")
        }
        return list
    }
}
