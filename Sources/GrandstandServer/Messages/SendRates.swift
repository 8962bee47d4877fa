internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Logging
internal import Synchronization

/// What this process learned from the answers of one API of APNs in one environment: the send rate of each app, and
/// whether APNs accepts the app's messages. For an app that was never throttled, recording an answer costs only one
/// dictionary access.
final class SendRates: Sendable {
    private struct State {
        var apps: [BundleID: AppSendRate] = [:]
        var health: [BundleID: SendHealth] = [:]
        /// The time until which nothing is pushed to an app's devices, because APNs refuses its key.
        var heldUntil: [BundleID: Date] = [:]
    }

    let environment: APNsEnvironment
    let api: Contract.APNsAPI
    /// Knows the apps whose messages are left to other processes.
    let keys: KeylessApps
    private let counter: Counter
    private let logger: Logger
    private let state = Mutex(State())

    init(
        environment: APNsEnvironment, api: Contract.APNsAPI, keys: KeylessApps,
        counter: @escaping Counter = { _ in }, logger: Logger
    ) {
        (self.environment, self.api, self.keys, self.counter) = (environment, api, keys, counter)
        var logger = logger
        logger[metadataKey: "environment"] = "\(environment.rawValue)"
        logger[metadataKey: "api"] = "\(api.rawValue)"
        self.logger = logger
    }

    /// The apps that APNs throttles.
    private var limited: [(bundleID: BundleID, rate: SendRate)] {
        state.withLock { $0.apps.filter(\.value.rate.isLimited).map { ($0.key, $0.value.rate) } }
    }

    /// How many messages each app with a limit may send now; for devices, in about a second. Nothing may be sent to apps
    /// whose key APNs refuses or this process lacks. Apps without a limit are left out.
    func limits(at now: Date) -> [AppLimit] {
        let refused = state.withLock { $0.heldUntil.filter { $0.value > now }.keys }
        let closed = Set(keys.restingApps(in: environment, at: now)).union(refused)
        let limits = limited.compactMap { bundleID, rate -> AppLimit? in
            guard !closed.contains(bundleID), let allowance = rate.allowance(at: now),
                let perSecond = rate.perSecond
            else { return nil }
            return AppLimit(
                bundleID: bundleID, allowance: api == .device ? max(1, Int(perSecond)) : allowance,
                perSecond: perSecond)
        }
        return limits + closed.map { AppLimit(bundleID: $0) }
    }

    /// A claim of at most so many lanes or runs, within the limits.
    func newClaim(_ limit: Int, by worker: Worker, at now: Date) -> WorkClaim {
        WorkClaim(
            environment: environment, limit: limit, replica: worker.replica, at: now, lease: worker.lease,
            limits: limits(at: now))
    }

    /// Whether a push to the app's devices must wait, because APNs refuses the key.
    func isHeldBack(_ bundleID: BundleID, at now: Date) -> Bool {
        state.withLock { $0.heldUntil[bundleID].map { $0 > now } ?? false }
    }

    /// The time at which the first of the apps that may send nothing now may send again; `nil`: there is no such app.
    func nextSend(at now: Date) -> Date? {
        limited.compactMap { $0.rate.allowance(at: now) == 0 ? $0.rate.nextToken(at: now) : nil }.min()
    }

    /// The rates of the apps that APNs throttles, in requests a second.
    var perSecond: [BundleID: Double] {
        Dictionary(
            uniqueKeysWithValues: limited.compactMap { bundleID, rate in rate.perSecond.map { (bundleID, $0) } })
    }

    /// Counts requests of an app that are sent now.
    func spend(_ requests: Int, of bundleID: BundleID, at now: Date) {
        state.withLock { $0.apps[bundleID]?.rate.spend(requests, at: now) }
    }

    /// If APNs throttles the app, and the app's rate allows a request now, counts one request.
    ///
    /// - Returns: when to ask again; `nil`: the request may be sent.
    func takeTurn(of bundleID: BundleID, at now: Date) -> Date? {
        state.withLock { state in
            guard let allowance = state.apps[bundleID]?.rate.allowance(at: now) else { return nil }
            guard allowance == 0 else {
                state.apps[bundleID]?.rate.spend(1, at: now)
                return nil
            }
            return state.apps[bundleID]?.rate.nextToken(at: now)
        }
    }

    /// Records an answer.
    ///
    /// - Parameter recipient: the lane, or a number that stays the same for a device token.
    /// - Returns: when the recipient may get the next request, if APNs throttles only this recipient.
    func record(
        _ answer: APNsAnswer<Void>, of bundleID: BundleID, recipient: Int, sentAt: Date, at now: Date
    ) -> Date? {
        switch answer {
        case .accepted:
            return state.withLock { state in
                state.apps[bundleID, default: AppSendRate()].accepted(recipient: recipient, at: now)
                return state.apps[bundleID]?.notBefore(recipient: recipient, at: now)
            }
        case .refused(let refusal) where refusal.isTooManyRequests:
            counter(.throttled(AppEnvironment(bundleID: bundleID, environment: environment), api))
            return change(bundleID) { app -> Date? in
                app.throttled(recipient: recipient, retryAfter: refusal.retryAfter, sentAt: sentAt, at: now)
                return app.notBefore(recipient: recipient, at: now)
            }
        case .refused(let refusal) where api == .device && refusal.isOfRefusedKey:
            let seconds = TimeInterval(refusal.retryAfter ?? 0)
            state.withLock { $0.heldUntil[bundleID] = now.addingTimeInterval(seconds) }
            return nil
        case .refused, .unanswered, .unsent, .withheld: return nil
        }
    }

    /// Records whether a message was accepted.
    ///
    /// - Returns: whether to log it. The first failure is logged, and the end of the failures.
    func note(isAccepted: Bool, of bundleID: BundleID, sentAt: Date, at now: Date) -> Bool {
        state.withLock { state in
            isAccepted
                ? state.health[bundleID, default: SendHealth()].noteAccepted(sentAt: sentAt, at: now)
                : state.health[bundleID, default: SendHealth()].noteFailed(sentAt: sentAt, at: now)
        }
    }

    /// What was answered since the last call: when the newest message of an app was accepted, and since when all of
    /// them fail.
    func drain() -> [(app: AppEnvironment, acceptedAt: Date?, failingSince: Date?)] {
        state.withLock { state in
            let news = state.health.filter { $0.value.hasAccepted || $0.value.hasFailed }
            for app in news.keys { state.health[app]?.beginReport() }
            return news.map { app, account in
                (
                    app: AppEnvironment(bundleID: app, environment: environment),
                    acceptedAt: account.hasAccepted ? account.acceptedAt : nil,
                    failingSince: account.hasFailed ? account.failingSince : nil
                )
            }
        }
    }

    /// Forgets the limits of apps that APNs has not throttled for a long time.
    ///
    /// - Returns: the limits that remain.
    func throttles(at now: Date) -> [ThrottledApp] {
        state.withLock { Array($0.apps.keys) }.compactMap { bundleID in
            change(bundleID) { app -> ThrottledApp? in
                app.forget(at: now)
                return app.rate.limitedSince.map {
                    ThrottledApp(app: AppEnvironment(bundleID: bundleID, environment: environment), api: api, since: $0)
                }
            }
        }
    }

    /// Changes an app's rate, and logs when a limit begins or ends.
    private func change<Value: Sendable>(_ bundleID: BundleID, _ body: (inout AppSendRate) -> Value) -> Value {
        let (value, rate, changed) = state.withLock { state in
            let wasLimited = state.apps[bundleID]?.rate.isLimited ?? false
            // In place: a copy would have ten thousand lanes.
            let value = body(&state.apps[bundleID, default: AppSendRate()])
            let rate = state.apps[bundleID]?.rate.perSecond
            return (value, rate, (rate != nil) != wasLimited)
        }
        guard changed else { return value }
        if let rate {
            logger.warning(
                "APNs throttles the app: its messages are sent at a learned rate",
                metadata: ["app": "\(bundleID)", "per-second": "\((rate * 10).rounded() / 10)"])
        } else {
            logger.notice("APNs no longer throttles the app", metadata: ["app": "\(bundleID)"])
        }
        return value
    }
}
