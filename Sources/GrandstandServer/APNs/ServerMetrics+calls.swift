internal import APNsWire
internal import CoreMetrics
internal import Grandstand
internal import HTTP2

/// The metrics of calls to APNs. Labels: `call` (`broadcast`, `device` or `manage`), `status` and `reason`. Unknown reasons
/// are `other`, so that APNs cannot create any number of time series.
extension ServerMetrics {
    /// The refusals that concern the device token. Other refusals are counted only in `grandstand_apns_answers_total`.
    static let tokenReasons: Set<APNsReason> = [
        .badDeviceToken, .deviceTokenNotForTopic, .expiredToken, .unregistered,
    ]

    /// Counts a finished call. Without an answer the status is 0, and the reason is `unanswered`, `unsent` or
    /// `withheld`.
    func ended(_ call: String, _ answer: APNsAnswer<HTTP2Response>) {
        let (code, reason) =
            switch answer {
            case .accepted(let response, _): (response.status, "none")
            case .refused(let refusal) where refusal.isHeldBack: (0, "withheld")
            case .refused(let refusal):
                (refusal.status, refusal.reason.status == nil ? "other" : refusal.reason.rawValue)
            case .unanswered: (0, "unanswered")
            case .unsent: (0, "unsent")
            case .withheld: (0, "withheld")
            }
        Counter(
            label: "grandstand_apns_answers_total",
            dimensions: [("call", call), ("status", "\(code)"), ("reason", reason)], factory: self
        ).increment()
    }

    /// Counts APNs' answers about device tokens, by app. The alert on refused tokens uses the share of refusals.
    /// Labels: `bundle_id`, `environment`, `result`, which is `accepted` or Apple's reason.
    func pushed(to app: AppEnvironment, _ answer: APNsAnswer<Void>) {
        let result: String
        switch answer {
        case .accepted: result = "accepted"
        case .refused(let refusal) where Self.tokenReasons.contains(refusal.reason): result = refusal.reason.rawValue
        case .refused, .unanswered, .unsent, .withheld: return
        }
        Counter(
            label: "grandstand_token_answers_total",
            dimensions: [
                ("bundle_id", app.bundleID.rawValue), ("environment", app.environment.rawValue), ("result", result),
            ], factory: self
        ).increment()
    }

    /// Counts requests that APNs never processed and that are repeated.
    var replays: Counter { Counter(label: "grandstand_apns_replays_total", factory: self) }

    /// Counts new provider tokens.
    var renewals: Counter { Counter(label: "grandstand_apns_token_renewals_total", factory: self) }

    /// Records the age of the token in use, in seconds.
    func tokenAge(_ seconds: Int, of credentials: Credentials) {
        Gauge(
            label: "grandstand_apns_token_age_seconds",
            dimensions: [("team", credentials.teamID), ("key", credentials.keyID)], factory: self
        ).record(seconds)
    }
}
