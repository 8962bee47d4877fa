internal import APNsWire
internal import Grandstand
internal import GrandstandContract

/// The alarms that the server has raised for apps and environments. The doctor's own call to Apple may get another
/// answer.
enum DoctorAlarms {
    static func checks(_ quotas: [Quota]) -> [DoctorCheck] {
        quotas.flatMap { quota in
            quota.alarms.compactMap { alarm in
                words(alarm, quota).map { outcome, text, next in
                    DoctorCheck(
                        "alarms", of: "\(quota.bundleID) \(quota.environment.rawValue)", outcome,
                        "\(alarm.rawValue): \(text)", next: next)
                }
            }
        }
    }

    private typealias Words = (outcome: DoctorCheck.Outcome, text: String, next: String)

    private static func words(_ alarm: Contract.QuotaAlarm, _ quota: Quota) -> Words? {
        let command = "grandstand reconcile \(quota.bundleID) \(quota.environment.rawValue)"
        return switch alarm {
        case .keyRefused:
            quota.keyRefused.map { refused -> Words in
                (
                    .failed,
                    KeyRefusal(reason: APNsReason(rawValue: refused.reason), since: refused.since).finding(
                        of: Credentials(teamID: refused.teamId, keyID: refused.keyId)),
                    refused.reason == APNsReason.tooManyProviderTokenUpdates.rawValue
                        ? "let nothing else sign with this key"
                        : "check that AuthKey_\(refused.keyId).p8 is the file of that key and team, and that "
                            + "the key is not revoked and has APNs enabled; the server reads a new file within seconds"
                )
            }
        case .keyMissing:
            (
                .failed, "a process of the server lacks the app's key file, or cannot read it",
                "put the .p8 file from Apple into GRANDSTAND_APNS_KEY_DIR of each process with the role dispatch; the "
                    + "error line in its log names the file"
            )
        case .capabilityOff where quota.isCapabilityOff:
            (
                .failed, "APNs refused calls of the server with BroadcastFeatureNotEnabled",
                "in Apple's developer portal, Identifiers, enable Broadcast Capability under Push Notifications of this "
                    + "App ID; the alarm ends with the next call that APNs accepts"
            )
        case .capabilityOff:
            (
                .failed, "APNs' list has none of the channels that this server knows",
                "check the Broadcast Capability of the App ID, then accept the loss: `\(command) --apply --recreate`"
            )
        case .nothingAccepted:
            (
                .failed, "broadcasts fail or wait, and APNs has accepted none for ten seconds or longer",
                "look at the other checks; the server's log has the first failure. Broadcasts that wait are sent as "
                    + "soon as APNs accepts them; in place of rejected and expired ones send the newest state"
            )
        case .quotaExhausted:
            (
                .failed,
                "APNs refuses to create channels because it has no place left for the app; "
                    + "\(quota.used + quota.reserved) are managed by this server, and the limit is \(quota.limit)",
                "end events that are over (`grandstand event list --overdue`), delete unmanaged channels "
                    + "(`\(command) --apply --delete-unmanaged`), or lower channelLimit to what Apple allows; a "
                    + "free place is used within half a minute"
            )
        case .listIncomplete:
            (
                .warning, "APNs knows channels that are missing from its list of channels",
                "compare again: `\(command)`; a channel's absence from the list was not taken as proof"
            )
        case .ambiguousCreation:
            (
                .warning,
                "APNs did not answer a request to create a channel; channels in its list may be the result, or "
                    + "another system's",
                "check the unmanaged channels, then `\(command) --apply --adopt`, or `--delete-unmanaged`"
            )
        case .manyInstallations:
            (
                .warning,
                "\(max(quota.devices.created, quota.devices.createdBefore)) of \(quota.devices.installations) "
                    + "installations are new within an hour",
                "if the app was not released just now, rotate its device key with the next release, and revoke "
                    + "the old one"
            )
        case .unknown: nil
        }
    }
}
