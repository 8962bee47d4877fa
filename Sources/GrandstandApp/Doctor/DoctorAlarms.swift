internal import APNsWire
internal import Grandstand

/// What the server has warned of, for every app and environment: Apple may say something else to the doctor's one call.
enum DoctorAlarms {
    static func checks(_ quotas: [Quota]) -> [DoctorCheck] {
        quotas.compactMap { quota in
            guard let alarm = quota.alarm else { return nil }
            let subject = "\(quota.bundleID) \(quota.environment.rawValue)"
            let (text, next) = words(alarm, quota)
            return DoctorCheck(
                "alarms", of: subject, alarm == .capabilityOff ? .failed : .warning, "\(alarm.rawValue): \(text)",
                next: next)
        }
    }

    private static func words(_ alarm: ReconciliationReport.Alarm, _ quota: Quota) -> (text: String, next: String) {
        let command = "grandstand reconcile \(quota.bundleID) \(quota.environment.rawValue)"
        return switch alarm {
        case .capabilityOff where quota.isCapabilityOff:
            (
                "APNs refused calls of the server with BroadcastFeatureNotEnabled",
                "in Apple's developer portal, Identifiers, enable Broadcast Capability under Push Notifications of this "
                    + "App ID; the alarm ends with the next call that APNs accepts"
            )
        case .capabilityOff:
            (
                "APNs' list has none of the channels that are known here",
                "check the Broadcast Capability of the App ID, then take the loss for true: `\(command) --apply --recreate`"
            )
        case .listIncomplete:
            (
                "APNs has channels that its list lacks",
                "compare again: `\(command)`; nothing was concluded from the list"
            )
        case .ambiguousCreation:
            (
                "a creation went unanswered, and somebody else may have made what the list has",
                "look at the unmanaged channels, then `\(command) --apply --adopt`, or `--delete-unmanaged`"
            )
        }
    }
}
