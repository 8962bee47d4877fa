internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Logging
internal import Synchronization

/// The send rates that this process learned for the apps of one environment and one API of APNs. For an app that was
/// never throttled, recording an answer of APNs costs only one dictionary access.
final class SendRates: Sendable {
    private struct State {
        var apps: [BundleID: AppSendRate] = [:]
        /// The apps with a limit, sorted.
        var limited: [BundleID] = []
    }

    let environment: APNsEnvironment
    let api: Contract.APNsAPI
    private let counting: Counting
    private let logger: Logger
    private let state = Mutex(State())
    private let anyLimited = Atomic(false)

    init(environment: APNsEnvironment, api: Contract.APNsAPI, counting: @escaping Counting = { _ in }, logger: Logger) {
        self.environment = environment
        self.api = api
        self.counting = counting
        var logger = logger
        logger[metadataKey: "environment"] = "\(environment.rawValue)"
        logger[metadataKey: "api"] = "\(api.rawValue)"
        self.logger = logger
    }

    /// Whether APNs throttles at least one app.
    var isAnyLimited: Bool { anyLimited.load(ordering: .relaxed) }

    /// The apps that APNs throttles.
    private var limited: [(bundleID: BundleID, rate: SendRate)] {
        guard isAnyLimited else { return [] }
        return state.withLock { state in
            state.limited.compactMap { bundleID in state.apps[bundleID].map { (bundleID, $0.rate) } }
        }
    }

    /// How many messages each app with a limit may send now. Apps without a limit are left out.
    func limits(at now: Date) -> [LaneLimit] {
        limited.compactMap { bundleID, rate in
            guard let allowance = rate.allowance(at: now), let perSecond = rate.perSecond else { return nil }
            return LaneLimit(bundleID: bundleID, allowance: allowance, perSecond: perSecond)
        }
    }

    /// The time at which the first of the apps that may send nothing now may send again; `nil`: there is no such app.
    func nextToken(at now: Date) -> Date? {
        limited.compactMap { $0.rate.allowance(at: now) == 0 ? $0.rate.nextToken(at: now) : nil }.min()
    }

    /// The rates of the apps that APNs throttles, in requests a second.
    var perSecond: [BundleID: Double] {
        Dictionary(
            uniqueKeysWithValues: limited.compactMap { bundleID, rate in rate.perSecond.map { (bundleID, $0) } })
    }

    /// Counts requests of an app that are sent now.
    func spend(_ requests: Int, of bundleID: BundleID, at now: Date) {
        guard isAnyLimited else { return }
        state.withLock { $0.apps[bundleID]?.rate.spend(requests, at: now) }
    }

    /// If APNs throttles the app, and the app's rate allows a request now, counts one request.
    ///
    /// - Returns: when to ask again; `nil`: the request may be sent.
    func turn(of bundleID: BundleID, at now: Date) -> Date? {
        guard isAnyLimited else { return nil }
        return state.withLock { state in
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
    /// - Parameter lane: the lane of the request. For a push without a lane: any number that stays the same for its
    ///   device token.
    /// - Returns: when the lane may send next, if APNs throttles only this lane.
    func record(
        _ answer: APNsAnswer<Void>, of bundleID: BundleID, lane: Int, sentAt: Date, at now: Date
    ) -> Date? {
        switch answer {
        case .accepted:
            return state.withLock { state in
                state.apps[bundleID, default: AppSendRate()].accepted(lane: lane, sentAt: sentAt, at: now)
                return state.apps[bundleID]?.notBefore(lane: lane, at: now)
            }
        case .refused(let refusal) where refusal.isTooManyRequests:
            counting(.throttled(AppEnvironment(bundleID: bundleID, environment: environment), api))
            return change(bundleID) { app -> Date? in
                app.throttled(lane: lane, retryAfter: refusal.retryAfter, sentAt: sentAt, at: now)
                return app.notBefore(lane: lane, at: now)
            }
        case .refused, .unanswered, .unsent, .withheld: return nil
        }
    }

    /// Forgets the limits of apps that APNs has not throttled for a long time.
    ///
    /// - Returns: the limits that remain.
    func throttles(at now: Date) -> [Throttle] {
        guard isAnyLimited else { return [] }
        return state.withLock { $0.limited }.compactMap { bundleID in
            change(bundleID) { app -> Throttle? in
                app.rate.forget(at: now)
                return app.rate.since.map {
                    Throttle(app: AppEnvironment(bundleID: bundleID, environment: environment), api: api, since: $0)
                }
            }
        }
    }

    /// Changes an app's rate, and logs when a limit begins or ends.
    private func change<Value: Sendable>(_ bundleID: BundleID, _ body: (inout AppSendRate) -> Value) -> Value {
        let (value, rate, changed) = state.withLock { state in
            var app = state.apps[bundleID] ?? AppSendRate()
            let wasLimited = app.rate.isLimited
            let value = body(&app)
            let changed = app.rate.isLimited != wasLimited
            if changed {
                state.limited.removeAll { $0 == bundleID }
                if !wasLimited { state.limited.append(bundleID) }
                anyLimited.store(!state.limited.isEmpty, ordering: .relaxed)
            }
            state.apps[bundleID] = app
            return (value, app.rate.perSecond, changed)
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
