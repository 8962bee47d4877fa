package import APNsWire
package import FoundationEssentials
package import Grandstand
package import GrandstandStore
package import Logging
internal import ServiceLifecycle
internal import Synchronization

/// The send rates that this process learned for the apps of one environment and one API of APNs. For an app that was
/// never throttled, recording an answer of APNs costs only one dictionary access.
package final class SendRates: Sendable {
    private struct App {
        var learned: AppSendRate
        /// The number of replicas that know a limit of this app, including this one.
        var replicas = 1
        /// Seconds that the app's rate needs to send one message of each waiting lane.
        var patience = SendRates.firstPatience
    }

    private struct State {
        var apps: [BundleID: App] = [:]
        /// The apps with a limit, sorted.
        var limited: [BundleID] = []
    }

    let environment: APNsEnvironment
    let api: AppSendRate.API
    private let counting: Counting
    private let logger: Logger
    private let state = Mutex(State())
    private let anyLimited = Atomic(false)
    /// The value of `patience` before the waiting lanes were counted.
    private static let firstPatience: TimeInterval = 2

    package init(
        environment: APNsEnvironment, api: AppSendRate.API, counting: @escaping Counting = { _ in }, logger: Logger
    ) {
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

    /// How many messages each app with a limit may send now. Apps without a limit are left out.
    func limits(at now: Date) -> [LaneLimit] {
        guard isAnyLimited else { return [] }
        return state.withLock { state in
            let limited = state.limited
            return limited.compactMap { bundleID in
                guard let patience = state.apps[bundleID]?.patience,
                    let allowance = state.apps[bundleID]?.learned.rate.allowance(at: now)
                else { return nil }
                return LaneLimit(bundleID: bundleID, allowance: allowance, patience: patience)
            }
        }
    }

    /// The time at which the first of the apps that may send nothing now may send again; `nil`: there is no such app.
    func nextToken(at now: Date) -> Date? {
        guard isAnyLimited else { return nil }
        return state.withLock { state in
            let limited = state.limited
            return limited.compactMap { bundleID -> Date? in
                guard state.apps[bundleID]?.learned.rate.allowance(at: now) == 0 else { return nil }
                return state.apps[bundleID]?.learned.rate.nextToken(at: now)
            }.min()
        }
    }

    /// The maximum number of pushes of an app to claim at once: the number that the app may send in about a second.
    func sizes(at now: Date) -> [BundleID: Int] {
        guard isAnyLimited else { return [:] }
        return state.withLock { state in
            Dictionary(
                uniqueKeysWithValues: state.limited.compactMap { bundleID in
                    state.apps[bundleID]?.learned.rate.perSecond.map { (bundleID, max(1, Int($0))) }
                })
        }
    }

    /// Counts requests of an app that are sent now.
    func spend(_ requests: Int, of bundleID: BundleID, at now: Date) {
        guard isAnyLimited else { return }
        state.withLock { $0.apps[bundleID]?.learned.rate.spend(requests, at: now) }
    }

    /// If APNs throttles the app, and the app's rate allows a request now, counts one request.
    ///
    /// - Returns: when to ask again; `nil`: the request may be sent.
    func turn(of bundleID: BundleID, at now: Date) -> Date? {
        guard isAnyLimited else { return nil }
        return state.withLock { state in
            guard let allowance = state.apps[bundleID]?.learned.rate.allowance(at: now) else { return nil }
            guard allowance == 0 else {
                state.apps[bundleID]?.learned.rate.spend(1, at: now)
                return nil
            }
            return state.apps[bundleID]?.learned.rate.nextToken(at: now)
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
                state.apps[bundleID, default: App(learned: AppSendRate(api))].learned
                    .accepted(lane: lane, sentAt: sentAt, at: now)
                return state.apps[bundleID]?.learned.notBefore(lane: lane, at: now)
            }
        case .refused(let refusal) where refusal.isTooManyRequests:
            counting(.throttled(AppEnvironment(bundleID: bundleID, environment: environment), api))
            return change(bundleID) { app -> Date? in
                app.learned.throttled(lane: lane, retryAfter: refusal.retryAfter, sentAt: sentAt, at: now)
                return app.learned.notBefore(lane: lane, at: now)
            }
        case .refused, .unanswered, .unsent, .withheld: return nil
        }
    }

    /// Forgets the limits of apps that APNs has not throttled for a long time.
    ///
    /// - Returns: the rates that remain.
    func learned(of replica: UUID, at now: Date) -> [LearnedRate] {
        guard isAnyLimited else { return [] }
        return state.withLock { $0.limited }.compactMap { bundleID in
            change(bundleID) { app -> LearnedRate? in
                app.learned.rate.forget(at: now)
                let rate = app.learned.rate
                guard let perSecond = rate.perSecond, let since = rate.since, let throttledAt = rate.throttledAt else {
                    return nil
                }
                return LearnedRate(
                    bundleID: bundleID, api: api, replica: replica, perSecond: perSecond, since: since,
                    throttledAt: throttledAt)
            }
        }
    }

    /// Applies the rates that other replicas learned. All replicas share the app's lanes equally, so the rates of the
    /// replicas add up to the app's limit. When a replica joins, the other replicas reduce their rates. When a replica
    /// leaves, the other replicas take its share.
    func hear(_ others: [LearnedRate], at now: Date) {
        let byApp = Dictionary(grouping: others.filter { $0.api == api }, by: \.bundleID)
        for bundleID in Set(byApp.keys).union(state.withLock { $0.limited }) {
            let others = byApp[bundleID] ?? []
            change(bundleID) { app in
                defer { app.replicas = others.count + 1 }
                guard let throttledAt = others.map(\.throttledAt).max(), let since = others.map(\.since).min(),
                    !app.learned.rate.isLimited
                else {
                    return app.learned.rate.share(
                        Double(app.replicas) / Double(others.count + 1),
                        throttledAt: others.map(\.throttledAt).max() ?? .distantPast)
                }
                // All replicas forget an old limit at about the same time. So an old limit of another replica must not
                // begin again here.
                guard now.timeIntervalSince(throttledAt) < SendRate.memory else { return }
                app.learned.join(
                    rate: others.reduce(0) { $0 + $1.perSecond } / Double(others.count + 1), since: since,
                    throttledAt: throttledAt, at: now)
            }
        }
    }

    /// Updates each app's `patience` from the number of its waiting lanes.
    func hear(_ throttles: [Throttle]) {
        state.withLock { state in
            for throttle in throttles where throttle.app.environment == environment && throttle.api == api {
                state.apps[throttle.app.bundleID]?.patience =
                    max(1, Double(throttle.lanesWaiting)) / max(throttle.perSecond, 0.1)
            }
        }
    }

    /// Changes an app's rate, and logs when a limit begins or ends.
    private func change<Value: Sendable>(_ bundleID: BundleID, _ body: (inout App) -> Value) -> Value {
        let (value, rate, changed) = state.withLock { state in
            var app = state.apps[bundleID] ?? App(learned: AppSendRate(api))
            let wasLimited = app.learned.rate.isLimited
            let value = body(&app)
            let changed = app.learned.rate.isLimited != wasLimited
            if changed {
                if wasLimited { app = App(learned: app.learned) }
                state.limited.removeAll { $0 == bundleID }
                if !wasLimited { state.limited.append(bundleID) }
                anyLimited.store(!state.limited.isEmpty, ordering: .relaxed)
            }
            state.apps[bundleID] = app
            return (value, app.learned.rate.perSecond, changed)
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

/// Exchanges the learned rates with the other replicas, about once a second while an app is limited.
package struct RateExchange: Service {
    private let replica = UUID()
    private let rates: [SendRates]
    private let store: PostgresSendRates
    private let now: @Sendable () -> Date
    private let logger: Logger

    package init(
        _ rates: [SendRates], store: PostgresSendRates, now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.rates = rates
        self.store = store
        self.now = now
        self.logger = logger
    }

    package func run() async {
        let loop = WorkLoop<Never>(
            .init(pollInterval: .seconds(2)),
            failure: "the rates of throttled apps could not be shared; each replica uses its own", logger: logger,
            now: now
        ) {
            try await exchange()
            return .idle(until: isAnyLimited ? now().addingTimeInterval(1) : nil)
        }
        await loop.run()
        // The process leaves the exchange in a separate task, because the present task may be cancelled.
        await Task { await leave() }.value
    }

    /// Performs one exchange.
    package func exchange() async throws {
        var isAnyLimited = false
        for (environment, rates) in Dictionary(grouping: rates, by: \.environment) {
            let known = try await store.exchange(
                rates.flatMap { $0.learned(of: replica, at: now()) }, of: replica, in: environment)
            for rates in rates { rates.hear(known.filter { $0.replica != replica }, at: now()) }
            isAnyLimited = isAnyLimited || !known.isEmpty
        }
        guard isAnyLimited else { return }
        let throttles = try await store.throttles(now: now())
        for rates in rates { rates.hear(throttles) }
    }

    /// Tells the other replicas that this replica sends nothing more.
    package func leave() async {
        for environment in Set(rates.map(\.environment)) where rates.contains(where: \.isAnyLimited) {
            _ = try? await store.exchange([], of: replica, in: environment)
        }
    }

    private var isAnyLimited: Bool { rates.contains(where: \.isAnyLimited) }
}
