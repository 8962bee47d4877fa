internal import APNsWire
internal import CoreMetrics
internal import Grandstand
internal import Synchronization

/// The metrics of calls. Labels: `call` (`broadcast`, `device` or `manage`), `status` and `reason`. Unknown reasons are
/// `other`, so that APNs cannot create any number of time series.
final class CallMetrics: Sendable {
    private struct Series: Hashable {
        let call: String
        let status: Int
        let reason: String
    }

    private let factory: any MetricsFactory
    private let answers = Mutex<[Series: Counter]>([:])
    private let tokenAnswers = Mutex<[TokenSeries: Counter]>([:])
    private let replays: Counter
    private let renewals: Counter

    private struct TokenSeries: Hashable {
        let app: AppEnvironment
        let result: String
    }

    /// The refusals that concern the device token. Other refusals are counted only in `grandstand_apns_answers_total`.
    private static let tokenReasons: Set<APNsReason> = [
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
        let series =
            switch answer {
            case .accepted: Series(call: call, status: status, reason: "none")
            case .refused(let refusal) where refusal.isHeldBack: Series(call: call, status: 0, reason: "withheld")
            case .refused(let refusal): Series(call: call, status: refusal.status, reason: Self.label(refusal.reason))
            case .unanswered: Series(call: call, status: 0, reason: "unanswered")
            case .unsent: Series(call: call, status: 0, reason: "unsent")
            case .withheld: Series(call: call, status: 0, reason: "withheld")
            }
        counter(series).increment()
    }

    /// Counts APNs' answers about device tokens, by app. The alert on refused tokens uses the share of refusals.
    /// Labels: `bundle_id`, `environment`, `result`, which is `accepted` or Apple's reason.
    func pushed(to app: AppEnvironment, _ answer: APNsAnswer<Void>) {
        switch answer {
        case .accepted: tokenCounter(TokenSeries(app: app, result: "accepted")).increment()
        case .refused(let refusal) where Self.tokenReasons.contains(refusal.reason):
            tokenCounter(TokenSeries(app: app, result: refusal.reason.rawValue)).increment()
        case .refused, .unanswered, .unsent, .withheld: break
        }
    }

    private func tokenCounter(_ series: TokenSeries) -> Counter {
        tokenAnswers.withLock { answers in
            if let counter = answers[series] { return counter }
            let counter = Counter(
                label: "grandstand_token_answers_total",
                dimensions: [
                    ("bundle_id", series.app.bundleID.rawValue), ("environment", series.app.environment.rawValue),
                    ("result", series.result),
                ],
                factory: factory)
            answers[series] = counter
            return counter
        }
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

    private func counter(_ series: Series) -> Counter {
        answers.withLock { answers in
            if let counter = answers[series] { return counter }
            let counter = Counter(
                label: "grandstand_apns_answers_total",
                dimensions: [("call", series.call), ("status", "\(series.status)"), ("reason", series.reason)],
                factory: factory)
            answers[series] = counter
            return counter
        }
    }

    private static func label(_ reason: APNsReason) -> String { reason.status == nil ? "other" : reason.rawValue }
}
