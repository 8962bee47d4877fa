internal import APNsWire
internal import CoreMetrics
internal import Grandstand
internal import Synchronization

/// The metrics of calls. Labels: `call` (`broadcast`, `device` or `manage`), `status` and `reason`. Unknown reasons are
/// `other`, so that APNs cannot create any number of time series.
final class CallMetrics: Sendable {
    private let factory: any MetricsFactory
    /// The counters with labels, by name and values of labels.
    private let counters = Mutex<[[String]: Counter]>([:])
    private let replays: Counter
    private let renewals: Counter

    /// The refusals that concern the device token. Other refusals are counted only in `grandstand_apns_answers_total`.
    static let tokenReasons: Set<APNsReason> = [
        .badDeviceToken, .deviceTokenNotForTopic, .expiredToken, .unregistered,
    ]

    /// - Parameter factory: the metrics backend.
    init(factory: any MetricsFactory) {
        self.factory = factory
        replays = Counter(label: "grandstand_apns_replays_total", factory: factory)
        renewals = Counter(label: "grandstand_apns_token_renewals_total", factory: factory)
    }

    /// Counts a finished call. Without an answer the status is 0, and the reason is `unanswered`, `unsent` or
    /// `withheld`.
    func ended<Value>(_ call: String, _ answer: APNsAnswer<Value>, status: Int) {
        let (code, reason) =
            switch answer {
            case .accepted: (status, "none")
            case .refused(let refusal) where refusal.isHeldBack: (0, "withheld")
            case .refused(let refusal):
                (refusal.status, refusal.reason.status == nil ? "other" : refusal.reason.rawValue)
            case .unanswered: (0, "unanswered")
            case .unsent: (0, "unsent")
            case .withheld: (0, "withheld")
            }
        count("grandstand_apns_answers_total", [("call", call), ("status", "\(code)"), ("reason", reason)])
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
        count(
            "grandstand_token_answers_total",
            [("bundle_id", app.bundleID.rawValue), ("environment", app.environment.rawValue), ("result", result)])
    }

    private func count(_ name: String, _ labels: [(String, String)]) {
        let key = [name] + labels.map(\.1)
        let counter = counters.withLock { counters in
            if let counter = counters[key] { return counter }
            let counter = Counter(label: name, dimensions: labels, factory: factory)
            counters[key] = counter
            return counter
        }
        counter.increment()
    }

    /// Counts a request that APNs never processed and that is repeated.
    func replayed() { replays.increment() }

    /// Counts a new provider token.
    func renewed() { renewals.increment() }

    /// Records the age of the token in use, in seconds.
    func tokenAge(_ seconds: Int, of credentials: Credentials) {
        Meter(
            label: "grandstand_apns_token_age_seconds",
            dimensions: [("team", credentials.teamID), ("key", credentials.keyID)], factory: factory
        ).set(seconds)
    }
}
