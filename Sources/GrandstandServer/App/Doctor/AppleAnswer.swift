internal import APNsWire
internal import Grandstand

/// Interprets the answer to "list the channels" as the checks `token`, `capability`, `capitals` and `list`.
enum AppleAnswer {
    static func checks(
        _ answer: APNsAnswer<ChannelListing>, of bundleID: BundleID, _ subject: String
    ) -> [DoctorCheck] {
        switch answer {
        case .accepted(let channels, _): accepted(channels.channelIDs.count, subject, lowercased: false)
        case .refused(let refusal): refused(refusal, bundleID, subject)
        case .unanswered(let why):
            [
                DoctorCheck("token", of: subject, .skipped, "APNs gave no answer, so this is not known"),
                DoctorCheck(
                    "list", of: subject, .failed, why,
                    next: "try again; if this continues, check Apple's system status page"),
            ]
        case .unsent(let why), .withheld(let why):
            [DoctorCheck("token", of: subject, .failed, why, next: "repair this first: nothing was sent to APNs")]
        }
    }

    /// - Parameter lowercased: whether APNs accepted the bundle ID only in lower case.
    static func accepted(_ channels: Int, _ subject: String, lowercased: Bool) -> [DoctorCheck] {
        [
            DoctorCheck("token", of: subject, .ok, "accepted"),
            DoctorCheck("capability", of: subject, .ok, "broadcasts are enabled"),
            lowercased
                ? DoctorCheck(
                    "capitals", of: subject, .warning,
                    "channels can be managed only with the bundle ID in lowercase (a known fault of APNs)",
                    next: "nothing: the server detects this by itself and remembers it")
                : DoctorCheck("capitals", of: subject, .ok, "the bundle ID is accepted as registered"),
            DoctorCheck("list", of: subject, .ok, "\(channels) channels"),
        ]
    }

    private static func refused(_ refusal: APNsRefusal, _ bundleID: BundleID, _ subject: String) -> [DoctorCheck] {
        let said = "APNs answered \(refusal.status) \(refusal.reason)"
        if [.throttled, .unavailable].contains(refusal.meaning), refusal.reason != .tooManyProviderTokenUpdates {
            return [DoctorCheck("list", of: subject, .warning, said, next: "a problem of APNs: try again in a minute")]
        }
        let (name, next) = advice(refusal, bundleID)
        let failed = DoctorCheck(name, of: subject, .failed, said, next: next)
        return name == "token" ? [failed] : [DoctorCheck("token", of: subject, .ok, "accepted"), failed]
    }

    /// The check that fails because of a refusal, and what to do.
    private static func advice(_ refusal: APNsRefusal, _ bundleID: BundleID) -> (name: String, next: String) {
        switch (refusal.reason, refusal.meaning) {
        case (.expiredProviderToken, _): ("token", "set this machine's clock by NTP, then try again")
        case (.badEnvironmentKeyInToken, _):
            (
                "token",
                "the key is restricted to Apple's other environment: name this environment's key in the app's overrides"
            )
        case (.topicMismatch, _):
            (
                bundleID.hasCapitals ? "capitals" : "capability",
                "check that the bundle ID is spelled as registered and belongs to this team, and that a topic-specific "
                    + "key covers it"
                    + (bundleID.hasCapitals
                        ? "; APNs is known to refuse bundle IDs with capitals for channels: create the channel in "
                            + "Apple's Push Notifications Console and import it (grandstand channel import)" : "")
            )
        case (.broadcastFeatureNotEnabled, _):
            (
                "capability",
                "in Apple's developer portal, Identifiers, enable Broadcast Capability under Push Notifications of this "
                    + "App ID"
            )
        case (.tooManyProviderTokenUpdates, _):
            ("token", "wait 20 minutes, and let nothing else sign with this key")
        case (_, .credentials):
            (
                "token",
                "check the app's teamId and keyId, that the .p8 file is that key's, and that the key is not revoked and "
                    + "has APNs enabled"
            )
        default: ("list", "look up the reason in Apple's \"Handling error responses from APNs\"")
        }
    }
}
