internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// How much of an app's channel limit is used in one environment: what `Contract.Quota` is computed from, and what alarms
/// and plots need besides.
package struct Quota: Sendable {
    var bundleID: BundleID
    var environment: APNsEnvironment
    var limit: Int
    var byState: [Channel.State: Int]
    /// Includes only channels that count against the quota.
    var byStoragePolicy: [StoragePolicy: Int]
    var forecast: Forecast
    /// The forecast number of channels in the next thirty days.
    var course: [(at: Date, count: Int)] = []
    /// Apple's count at the last reconciliation; `nil`: there was no reconciliation yet.
    var apple: Contract.AppleCount?
    /// Channels in Apple's list that our ledger does not know. They count against Apple's limit of 10,000 channels, but
    /// not against `limit`, which may be lower.
    var unmanaged: Int = 0
    /// The alarm of the last reconciliation.
    var reconciliationAlarm: Contract.ReconciliationAlarm?
    /// Set while APNs refuses the provider tokens of the key that signs for the app.
    var keyRefused: KeyRefused?
    /// Whether Apple refused the last call that needs the app's Broadcast capability.
    var isCapabilityOff: Bool = false
    /// Since when Apple refuses to create channels because there is no free place; `nil`: the last answered creation
    /// succeeded, or a channel was deleted since the refusal and no creation waits for a place. The value depends on
    /// Apple's refusals, not on Apple's list. So it is also set if Apple allows the app fewer channels than our limit.
    var fullSince: Date?
    /// Whether a process that sends lacks the key file that signs for the app, or cannot read it.
    var isKeyMissing = false
    /// Since when the app's broadcasts fail or wait and APNs accepts none; `nil`: it accepts them, or there are none.
    var unacceptedSince: Date?
    /// Whether this has lasted for `patience`.
    var isNothingAccepted = false
    /// Seconds without an acceptance after which `isNothingAccepted` is set.
    static let patience: TimeInterval = 10
    /// APIs in which APNs throttles the app.
    var throttles: [Throttle] = []
    /// The number of the app's installations, and how many of them are new.
    var devices = DeviceAccount()

    /// The key that APNs refuses.
    struct KeyRefused: Sendable, Hashable {
        var credentials: Credentials
        var refusal: KeyRefusal
    }

    /// All active alarms, the most serious first.
    var alarms: [Contract.QuotaAlarm] {
        var standing: Set<Contract.QuotaAlarm> = []
        if keyRefused != nil { standing.insert(.keyRefused) }
        if isKeyMissing { standing.insert(.keyMissing) }
        if isCapabilityOff { standing.insert(.capabilityOff) }
        if isNothingAccepted { standing.insert(.nothingAccepted) }
        if fullSince != nil { standing.insert(.quotaExhausted) }
        switch reconciliationAlarm {
        case .capabilityOff: standing.insert(.capabilityOff)
        case .listIncomplete: standing.insert(.listIncomplete)
        case .ambiguousCreation: standing.insert(.ambiguousCreation)
        case .unknown, nil: break
        }
        if devices.isSurging { standing.insert(.manyInstallations) }
        return Contract.QuotaAlarm.allCases.filter(standing.contains)
    }

    /// The most serious active alarm.
    var alarm: Contract.QuotaAlarm? { alarms.first }

    /// Channels that exist at Apple, as far as we know.
    var used: Int { count(.isAtApple) }
    /// Places reserved for creations that Apple has not answered yet.
    var reserved: Int { count(.countsAgainstQuota) - used }
    var available: Int { fullSince == nil ? max(0, capacity - used - reserved) : 0 }
    /// How many channels Grandstand may have: the app's limit, or fewer if unmanaged channels use too much of Apple's
    /// limit.
    var capacity: Int { Self.capacity(limit: limit, unmanaged: unmanaged) }
    var missing: Int { byState[.missing, default: 0] }

    /// `warning` from 80 % of the limit; `critical` from 95 %, and while Apple refuses creations for lack of a place.
    var level: Contract.QuotaLevel {
        let taken = (used + reserved) * 100
        if fullSince != nil || taken >= capacity * 95 { return .critical }
        return taken >= capacity * 80 ? .warning : .ok
    }

    static func capacity(limit: Int, unmanaged: Int) -> Int {
        max(0, min(limit, APNsLimits.channels - unmanaged))
    }

    private func count(_ traits: Channel.State.Traits) -> Int {
        Channel.State.having(traits).reduce(0) { $0 + byState[$1, default: 0] }
    }
}

extension Problem {
    /// The error when no place is left, by our limit (without `apns`) or by Apple's.
    static func quotaExhausted(
        _ address: APNsAddress, limit: Int, used: Int, reserved: Int, unmanaged: Int = 0, apns: APNsRefusal? = nil
    ) -> Problem {
        let members: [Member] = [.limit(limit), .used(used), .reserved(reserved)]
        if let apns {
            return Problem(
                .quotaExhausted,
                "APNs refused to create the channel: \(apns.reason). It has no place left for \(address.bundleID) in "
                    + "\(address.environment.rawValue), although this server manages \(used) channels, is creating "
                    + "\(reserved), and the app's limit is \(limit). Channels of other systems use the places: a "
                    + "reconciliation lists, adopts or deletes them.",
                apns: apns, members: members)
        }
        let advice =
            unmanaged > 0
            ? "Apple also has \(unmanaged) that are not managed here: a reconciliation lists, adopts or deletes them."
            : "End or delete events that are over, or raise the app's channelLimit."
        return Problem(
            .quotaExhausted,
            "\(address.bundleID) has \(used) channels in \(address.environment.rawValue) and \(reserved) that are being created; "
                + "the limit is \(limit). \(advice)",
            members: members)
    }
}
