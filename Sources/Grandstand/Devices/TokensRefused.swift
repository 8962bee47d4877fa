internal import APNsWire
package import FoundationEssentials

/// The alarm `tokens-refused` while it stands: APNs refuses many of an app's device tokens, so the mistake is not each
/// phone's.
package struct TokensRefused: Sendable, Hashable {
    package var app: AppEnvironment
    /// Apple's, of the last refusal.
    package var reason: String
    /// Answers since then that refused the token for itself.
    package var refused: Int
    /// Those and the acceptances.
    package var answers: Int
    /// When the minute of the first of these refusals began.
    package var since: Date

    package init(app: AppEnvironment, reason: String, refused: Int, answers: Int, since: Date) {
        self.app = app
        self.reason = reason
        self.refused = refused
        self.answers = answers
        self.since = since
    }

    /// The counts, without a full stop.
    package var finding: String {
        "APNs refused \(refused) of \(answers) pushes to device tokens since \(RFC3339.text(since)), the last with "
            + reason
    }

    /// The likely cause, without a full stop.
    package var cause: String {
        switch APNsReason(rawValue: reason) {
        case .badDeviceToken:
            switch app.environment {
            case .production: "tokens of builds that are signed for development are registered for production"
            case .development: "tokens of builds from TestFlight or the App Store are registered for development"
            }
        case .deviceTokenNotForTopic: "tokens of another app are registered for \(app.bundleID)"
        default: "tokens of another environment or app are registered here"
        }
    }

    /// The remedy, without a full stop.
    package var remedy: String {
        let change =
            switch APNsReason(rawValue: reason) {
            case .deviceTokenNotForTopic:
                "have the app register under its own bundle ID, capitals included, not that of another target"
            default:
                "have the app register in the environment it is signed for (aps-environment): development when Xcode "
                    + "installs it, production from TestFlight and the App Store"
            }
        return "\(change); a refused token is used again when its app registers it again"
    }
}

extension TokensRefused: JSONObjectWritable {
    /// Without the app, which stands beside it.
    package func write(members object: inout JSONWriter) {
        object.member("reason", reason)
        object.member("refused", refused)
        object.member("answers", answers)
        object.member("since", since)
        object.member("cause", cause)
        object.member("remedy", remedy)
    }
}

extension TokensRefused {
    /// Reads what is noted for webhooks when the alarm is raised.
    ///
    /// - Returns: `nil` for facts of another kind.
    init?(_ detail: JSONValue) {
        guard let bundleID = detail["bundle_id"]?.string.flatMap(BundleID.init(rawValue:)),
            let environment = detail["environment"]?.string.flatMap(APNsEnvironment.init(rawValue:)),
            let reason = detail["reason"]?.string, let since = detail["since"]?.string.flatMap(RFC3339.date),
            case .number(let number)? = detail["refused"]?.kind, let refused = Int(number),
            case .number(let total)? = detail["answers"]?.kind, let answers = Int(total)
        else { return nil }
        self.init(
            app: AppEnvironment(bundleID: bundleID, environment: environment), reason: reason, refused: refused,
            answers: answers, since: since)
    }
}
