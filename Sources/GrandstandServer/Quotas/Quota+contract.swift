internal import APNsWire
internal import Grandstand
internal import GrandstandContract

// This extension is in this module and not with the API's routes, because webhook messages use it, too.

extension Contract.Quota {
    /// A quota as the API and webhooks show it.
    init(_ quota: Quota) {
        self.init(
            bundleId: quota.bundleID.rawValue, environment: .init(quota.environment),
            limit: quota.limit, used: quota.used, reserved: quota.reserved, available: quota.available,
            byState: Dictionary(uniqueKeysWithValues: quota.byState.map { ($0.key.rawValue, $0.value) }),
            byStoragePolicy: Dictionary(
                uniqueKeysWithValues: StoragePolicy.allCases.map {
                    ($0.rawValue, quota.byStoragePolicy[$0, default: 0])
                }),
            apple: quota.apple, unmanaged: quota.unmanaged, missing: quota.missing,
            forecast: quota.forecast, level: quota.level, alarm: quota.alarm,
            keyRefused: quota.keyRefused.map {
                Contract.KeyRefused(
                    teamId: $0.credentials.teamID, keyId: $0.credentials.keyID, reason: $0.refusal.reason.text,
                    since: $0.refusal.since)
            },
            throttled: quota.throttles.first { $0.api == .broadcast }.map(Contract.Throttled.init),
            devicesThrottled: quota.throttles.first { $0.api == .device }.map(Contract.Throttled.init))
    }
}

extension Contract.Throttled {
    fileprivate init(_ throttle: Throttle) {
        self.init(
            since: throttle.since, lanesWaiting: throttle.lanesWaiting, oldestSeconds: throttle.oldestSeconds.tenths)
    }
}

extension Throttle {
    /// The text that pages show for the throttle.
    var sentence: String {
        let subject = api == .broadcast ? "APNs throttles this app" : "APNs throttles this app's pushes to devices"
        guard lanesWaiting > 0 else { return "\(subject). Nothing waits." }
        let waiting = lanesWaiting == 1 ? "1 channel or crowd waits" : "\(lanesWaiting) channels or crowds wait"
        return "\(subject). \(waiting), the oldest for \(oldestSeconds.tenths) s."
    }
}
