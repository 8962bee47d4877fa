package import APNsWire
package import FoundationEssentials
package import GrandstandContract

/// How much of an app's channel limit is used in one environment: what `Contract.Quota` is computed from, and what alarms
/// and plots need besides.
package struct Quota: Sendable, Decodable {
    package var bundleID: BundleID
    package var environment: APNsEnvironment
    package var limit: Int
    package var byState: [Channel.State: Int] = [:]
    /// Includes only channels that count against the quota.
    package var byStoragePolicy = Dictionary(uniqueKeysWithValues: StoragePolicy.allCases.map { ($0.rawValue, 0) })
    package var forecast = Forecast(peak: 0, peakAt: .distantPast, exceedsAt: nil)
    /// The places of the present and the expected channels, from which the forecast is made.
    package var stays: [Forecast.Stay] = []
    /// Apple's count at the last reconciliation; `nil`: there was no reconciliation yet.
    package var apple: Contract.AppleCount?
    /// Channels in Apple's list that our ledger does not know. They count against Apple's limit of 10,000 channels, but
    /// not against `limit`, which may be lower.
    package var unmanaged: Int = 0
    /// The alarm of the last reconciliation.
    package var reconciliationAlarm: Contract.ReconciliationAlarm?
    /// Set while APNs refuses the provider tokens of the key that signs for the app.
    package var keyRefused: Contract.KeyRefused?
    /// Whether Apple refused the last call that needs the app's Broadcast capability.
    package var isCapabilityOff: Bool = false
    /// Since when Apple refuses to create channels because there is no free place; `nil`: the last answered creation
    /// succeeded, or a channel was deleted since the refusal and no creation waits for a place. The value depends on
    /// Apple's refusals, not on Apple's list. So it is also set if Apple allows the app fewer channels than our limit.
    package var fullSince: Date?
    /// Whether a process that sends lacks the key file that signs for the app, or cannot read it.
    package var isKeyMissing = false
    /// Since when the app's broadcasts fail or wait and APNs accepts none; `nil`: it accepts them, or there are none.
    package var unacceptedSince: Date?
    /// Whether this has lasted for ten seconds.
    package var isNothingAccepted = false
    /// APIs in which APNs throttles the app.
    package var throttles: [ThrottledApp] = []
    /// The number of the app's installations, and how many of them are new.
    package var devices = InstallationTotals()
    /// The level that webhooks were told last.
    package var notedLevel = Contract.QuotaLevel.ok

    private enum CodingKeys: String, CodingKey {
        case bundleID, environment, limit, apple, unmanaged, reconciliationAlarm, keyRefused, isCapabilityOff, fullSince
        case isKeyMissing, unacceptedSince, isNothingAccepted, devices, notedLevel
    }

    /// All active alarms, the most serious first.
    package var alarms: [Contract.QuotaAlarm] {
        let standing: [(alarm: Contract.QuotaAlarm, stands: Bool)] = [
            (.keyRefused, keyRefused != nil), (.keyMissing, isKeyMissing),
            (.capabilityOff, isCapabilityOff || reconciliationAlarm == .capabilityOff),
            (.nothingAccepted, isNothingAccepted), (.quotaExhausted, fullSince != nil),
            (.listIncomplete, reconciliationAlarm == .listIncomplete),
            (.ambiguousCreation, reconciliationAlarm == .ambiguousCreation),
            (.manyInstallations, devices.isSurging),
        ]
        return standing.filter(\.stands).map(\.alarm)
    }

    /// The most serious active alarm.
    package var alarm: Contract.QuotaAlarm? { alarms.first }

    /// Channels that exist at Apple, as far as we know.
    package var used: Int { count(.isAtApple) }
    /// Places reserved for creations that Apple has not answered yet.
    package var reserved: Int { count(.countsAgainstQuota) - used }
    package var available: Int { fullSince == nil ? max(0, capacity - used - reserved) : 0 }
    /// How many channels Grandstand may have: the app's limit, or fewer if unmanaged channels use too much of Apple's
    /// limit.
    package var capacity: Int { max(0, min(limit, APNsLimits.channels - unmanaged)) }
    package var missing: Int { byState[.missing, default: 0] }

    /// `warning` from 80 % of the limit; `critical` from 95 %, and while Apple refuses creations for lack of a place.
    package var level: Contract.QuotaLevel {
        let taken = (used + reserved) * 100
        if fullSince != nil || taken >= capacity * 95 { return .critical }
        return taken >= capacity * 80 ? .warning : .ok
    }

    private func count(_ states: Set<Channel.State>) -> Int { states.reduce(0) { $0 + byState[$1, default: 0] } }
}

extension Contract.Quota {
    /// A quota as the API and webhooks show it.
    package init(_ quota: Quota) {
        self.init(
            bundleId: quota.bundleID.rawValue, environment: .init(quota.environment),
            limit: quota.limit, used: quota.used, reserved: quota.reserved, available: quota.available,
            byState: Dictionary(uniqueKeysWithValues: quota.byState.map { ($0.key.rawValue, $0.value) }),
            byStoragePolicy: quota.byStoragePolicy, apple: quota.apple, unmanaged: quota.unmanaged,
            missing: quota.missing, forecast: quota.forecast, level: quota.level, alarm: quota.alarm,
            keyRefused: quota.keyRefused,
            throttled: quota.throttles.first { $0.api == .broadcast }?.shown,
            devicesThrottled: quota.throttles.first { $0.api == .device }?.shown)
    }
}

/// An app that APNs throttles.
package struct ThrottledApp: Sendable, Hashable, Decodable {
    package var app: AppEnvironment
    package var api: Contract.APNsAPI
    /// When the first 429 came.
    package var since: Date
    /// Lanes that are due and wait for the rate.
    package var lanesWaiting: Int = 0
    /// How many seconds the lane that waits longest has waited for the rate; 0 if no lane waits.
    package var oldestSeconds: TimeInterval = 0

    /// The text that pages show for the throttle.
    package var sentence: String {
        let pushes = api == .broadcast ? "" : "'s pushes to devices"
        let oldest = "the oldest for \(oldestSeconds.oneDecimal) s"
        return "APNs throttles this app\(pushes). \(lanesWaiting) channels or crowds wait, \(oldest)."
    }

    fileprivate var shown: Contract.Throttled {
        Contract.Throttled(since: since, lanesWaiting: lanesWaiting, oldestSeconds: oldestSeconds.oneDecimal)
    }
}

extension ThrottledApp {
    package init(app: AppEnvironment, api: Contract.APNsAPI, since: Date) {
        self.init(app: app, api: api, since: since, lanesWaiting: 0)
    }
}

/// The totals of an app's installations in one environment (table `device_accounts`).
package struct InstallationTotals: Decodable, Sendable, Hashable {
    package var installations = 0
    /// Installations that were created in the present hour of the clock.
    package var created = 0

    /// Whether many installations are new: at least 1,000 in this hour, and at least a tenth of those known before.
    var isSurging: Bool { created >= 1_000 && created * 10 >= installations - created }
}

extension Problem {
    /// The error when no place is left, by our limit (without `apns`) or by Apple's.
    package static func quotaExhausted(_ quota: Quota, apns: APNsRefusal? = nil) -> Problem {
        let refused = apns.map { "APNs refused to create the channel: \($0.reason). " } ?? ""
        return Problem(
            .quotaExhausted,
            "\(refused)\(quota.bundleID) has \(quota.used) channels in \(quota.environment.rawValue), \(quota.reserved) "
                + "that are being created, and the limit \(quota.limit). End or delete events that are over, raise the "
                + "app's channelLimit, or let a reconciliation delete the \(quota.unmanaged) that are not managed here.",
            apns: apns
        ) { ($0.limit, $0.used, $0.reserved) = (quota.limit, quota.used, quota.reserved) }
    }
}
