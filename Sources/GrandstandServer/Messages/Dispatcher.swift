internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import JSON
internal import Logging
internal import Synchronization

/// Claims due lanes of one environment, sends the first message of each lane to APNs, and records the results. The
/// dispatcher finds work in the database, so any number of processes can work together. A problem with the host of the
/// other environment does not affect this dispatcher.
final class Dispatcher: Sendable {
    struct Settings: Sendable {
        /// The maximum number of requests to Apple at a time. About 100 requests for each connection keep the windows
        /// of the connection full (docs/internals/http2.md).
        var concurrency: Int
        /// The maximum number of lanes in one claim. An urgent message of another app waits for at most one such claim.
        var batch = 100
        /// Seconds between two messages of one lane.
        var laneInterval: TimeInterval
        /// Seconds until another replica takes the lanes of a replica that died. The lease is extended during a
        /// request, so the lease may be shorter than a request.
        var lease: TimeInterval
        /// How long a stop waits for requests in flight.
        var drain: Drain
        /// The longest sleep. The poll after this sleep finds work whose signal was lost.
        var pollInterval: Duration = .seconds(1)

        /// How many places for requests must be free before a claim. Each claim costs one disk write, however few lanes
        /// the claim takes.
        var leastRoom: Int { max(1, min(batch, concurrency / 4)) }
    }

    private let replica = UUID()
    private let environment: APNsEnvironment
    private let outbox: Outbox
    private let gateway: any APNsGateway
    private let rates: SendRates
    private let accounts: SendAccounts
    private let keys: KeyWatch?
    private let signals: WakeUps
    private let settings: Settings
    private let now: @Sendable () -> Date
    private let mayClaim: @Sendable () -> Bool
    private let counting: Counting
    private let logger: Logger
    private let circuit = Mutex(Circuit())
    private let adoption = Mutex(Adoption())

    /// When claims look for lanes of replicas that died. During a burst one look a second is enough, because it reads
    /// all entries of settled messages in the index.
    private struct Adoption {
        var isBusy = false
        private var last = Date.distantPast

        mutating func begins(_ now: Date) -> Bool {
            guard !isBusy || now.timeIntervalSince(last) >= 1 else { return false }
            last = now
            return true
        }
    }

    /// - Parameters:
    ///   - accounts: records whether APNs accepts the broadcasts of each app.
    ///   - keys: knows the apps whose messages are left to other processes; `nil`: this process has all keys.
    ///   - mayClaim: whether this process may claim work now. The function is called before every claim.
    init(
        environment: APNsEnvironment, outbox: Outbox, gateway: any APNsGateway, rates: SendRates,
        accounts: SendAccounts? = nil, keys: KeyWatch? = nil, signals: WakeUps, settings: Settings,
        now: @escaping @Sendable () -> Date,
        mayClaim: @escaping @Sendable () -> Bool = { true }, counting: @escaping Counting = { _ in }, logger: Logger
    ) {
        self.counting = counting
        self.environment = environment
        self.outbox = outbox
        self.gateway = gateway
        self.rates = rates
        self.accounts = accounts ?? SendAccounts(environment: environment)
        self.keys = keys
        self.signals = signals
        self.settings = settings
        self.now = now
        self.mayClaim = mayClaim
        var logger = logger
        logger[metadataKey: "environment"] = "\(environment.rawValue)"
        self.logger = logger
    }

    /// Runs until a graceful stop. After the stop begins, the dispatcher claims no more lanes, and requests in flight
    /// may finish within `drain`. The other messages are given back, and their attempts do not count.
    func run() async {
        counting(.circuit(environment, isOpen: false))
        let loop = WorkLoop<ClaimedDelivery>(
            .init(
                places: settings.concurrency, leastRoom: settings.leastRoom, rest: Self.rest,
                pollInterval: settings.pollInterval, ringsWhenSettled: false, retry: .milliseconds(500),
                lease: settings.lease,
                drain: settings.drain),
            failure: "messages that are due could not be taken from the database", logger: logger, now: now,
            mayClaim: mayClaim, claim: { try await self.claim($0, held: $1.lasting) }, perform: { await self.send($0) },
            giveUp: { self.settling($0.settled(nil, at: self.now())) }, extend: { try await self.extendLeases($0) })
        await loop.run(wakenBy: signals.wakes(.lanes(environment)))
    }

    /// The loop rests briefly before a claim. During the rest, several verdicts are recorded together, and one claim
    /// then fills all their places.
    private static let rest = Duration.milliseconds(2)

    // MARK: Claim, send, settle

    /// Claims as many lanes as may be in flight.
    private func claim(_ free: Int, held: [ClaimedDelivery]) async throws -> Round<ClaimedDelivery> {
        let room = min(settings.batch, free)
        let (admitted, pause) = circuit.withLock { circuit in
            (circuit.admits(room, flying: settings.concurrency - free, now: now()), circuit.pause(now: now()))
        }
        guard admitted > 0 else { return .idle(until: now().addingTimeInterval(pause ?? 1)) }
        let at = now()
        let resting = keys?.resting(in: environment, at: at) ?? []
        let limits =
            rates.limits(at: at).filter { !resting.contains($0.bundleID) }
            + resting.map { LaneLimit(bundleID: $0, allowance: 0, perSecond: 1) }
        var claim = LaneClaim(
            environment: environment, limit: admitted, replica: replica, at: at,
            leasedUntil: at.addingTimeInterval(settings.lease), laneInterval: settings.laneInterval, limits: limits)
        claim.held = Set(held.map(\.lane))
        claim.adopts = adoption.withLock { $0.begins(at) }
        let claimed = try await outbox.claim(claim)
        if rates.isAnyLimited {
            for delivery in claimed { rates.spend(1, of: delivery.address.bundleID, at: now()) }
        }
        // A claim that took fewer messages than it could leaves more work only if apps did not use their shares. A look
        // at the next due time costs less than another claim.
        let isFull = claimed.count == admitted
        adoption.withLock { $0.isBusy = isFull }
        return Round(work: claimed) { [self] in
            guard !isFull else { return .distantPast }
            let due = try await outbox.nextDue(in: environment, limits: limits)
            return [rates.nextToken(at: at), due].compactMap(\.self).min()
        }
    }

    private func extendLeases(_ deliveries: [ClaimedDelivery]) async throws {
        try await LaneRows.extendLeases(
            of: Set(deliveries.map(\.lane)).sorted(), replica: replica, until: now().addingTimeInterval(settings.lease),
            in: outbox.dispatch)
    }

    private func send(_ delivery: ClaimedDelivery) async -> WorkLoop<ClaimedDelivery>.Settling {
        let sentAt = now()
        // The delivery may have expired while it waited.
        let answer: APNsAnswer<Void> =
            delivery.message.isExpired(at: sentAt)
            ? .withheld("it expired before it was sent") : await gateway.send(delivery)
        note(Circuit.Outcome(answer))
        let answered = now()
        if case .withheld = answer, let keys, keys.lacks(delivery.address, at: answered) {
            return settling(delivery.settled(nil, at: answered))
        }
        let notBefore = rates.record(
            answer, of: delivery.address.bundleID, lane: delivery.lane, sentAt: sentAt, at: answered)
        let verdict = Verdict(
            answer, attempts: delivery.message.attempts, expiresAt: delivery.message.expiresAt, now: answered,
            jitter: .random(in: 0..<1))
        let isAccepted = if case .accepted = verdict { true } else { false }
        if isAccepted, let asked = delivery.askedAt {
            counting(.accepted(after: max(0, answered.timeIntervalSince(asked))))
        }
        let app = delivery.address.bundleID
        let isNews =
            isAccepted
            ? accounts.accepted(app, sentAt: sentAt, at: answered)
            : accounts.failed(app, sentAt: sentAt, at: answered)
        log(verdict, delivery, answer, isNews: isNews)
        var settled = delivery.settled(verdict, at: answered)
        (settled.mayBeProcessed, settled.notBefore) = (answer.mayBeProcessed, notBefore)
        return settling(settled)
    }

    private func settling(_ delivery: ClaimedDelivery) -> WorkLoop<ClaimedDelivery>.Settling {
        { [outbox] in if try await !outbox.settle(delivery) { throw LockedByAnother() } }
    }

    private func note(_ outcome: Circuit.Outcome) {
        let (changed, isClosed) = circuit.withLock { circuit in
            (circuit.record(outcome, now: now(), jitter: .random(in: 0..<1)), circuit.isClosed)
        }
        guard changed else { return }
        counting(.circuit(environment, isOpen: !isClosed))
        if isClosed {
            logger.notice("APNs answers again; the newest states are sent")
        } else {
            logger.error(
                "APNs does not answer or reports a problem; only one probe at a time is sent until it recovers")
        }
    }

    /// - Parameter isNews: whether failures of the app begin or end. Only the first failure of each outage is logged as
    ///   a warning.
    private func log(_ verdict: Verdict, _ delivery: ClaimedDelivery, _ answer: APNsAnswer<Void>, isNews: Bool) {
        // Do not build log lines for a level that is not logged: a goal causes ten thousand such lines in a second.
        if case .accepted = verdict, !isNews, logger.logLevel > .debug { return }
        var metadata: Logger.Metadata = [
            "app": "\(delivery.address.bundleID)",
            "apns-request-id": "\(delivery.message.requestID.uuidString.lowercased())",
            "attempt": "\(delivery.message.attempts)",
        ]
        func log(_ level: Logger.Level, _ message: Logger.Message, _ reason: String? = nil, next: Date? = nil) {
            if let reason { metadata["reason"] = "\(reason)" }
            if let next { metadata["next"] = "\(RFC3339.text(next))" }
            logger.log(level: level, message, metadata: metadata)
        }
        switch verdict {
        case .accepted where isNews: log(.notice, "APNs accepts broadcasts of the app again")
        case .accepted: log(.debug, "broadcast accepted by APNs")
        case .retry(let next, let reason), .throttled(let next, let reason):
            // Throttling and a refused key are logged elsewhere, once. So the messages that they delay are logged only
            // at the level `debug`.
            var isKnown = answer.isTooManyRequests && rates.isAnyLimited
            if case .refused(let refusal) = answer, refusal.isOfRefusedKey { isKnown = true }
            log(isKnown || !isNews ? .debug : .warning, "broadcast will be sent again", reason, next: next)
        case .channelDoubted(let refusal, let next?):
            log(
                .warning,
                "APNs does not know a channel; a reconciliation checks this, and the broadcast will be sent again",
                "\(refusal.reason)", next: next)
        case .rejected(let refusal), .channelDoubted(let refusal, nil):
            log(.error, "broadcast refused by APNs", "\(refusal.reason)")
        case .expired(let reason): log(.error, "broadcast expired unsent", reason)
        }
    }
}
