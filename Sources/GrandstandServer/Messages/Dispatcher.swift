internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import JSON
internal import Logging
internal import Synchronization

/// Claims due lanes of one environment, sends the first message of each lane to APNs, and records the results. The
/// dispatcher finds work in the database, so any number of processes can work together. A problem with the host of the
/// other environment does not affect this dispatcher.
struct Dispatcher: Sendable {
    let outbox: Outbox
    let gateway: any APNsGateway
    let rates: SendRates
    /// The maximum number of requests to Apple at a time. About 100 requests for each connection keep the windows of the
    /// connection full (docs/internals/http2.md).
    let concurrency: Int
    /// Seconds between two messages of one lane.
    let laneInterval: TimeInterval
    let worker: Worker
    private let shared = Shared()

    private final class Shared: Sendable {
        let circuit = Mutex(Circuit())
        /// When claims look for lanes of replicas that died. During a burst one look a second is enough, because it reads
        /// all entries of settled messages in the index.
        let lastReclaim = Mutex((isBusy: false, last: Date.distantPast))
    }

    /// Runs until a graceful stop. After the stop begins, the dispatcher claims no more lanes, and requests in flight
    /// may finish within `drain`. The other messages are given back, and their attempts do not count.
    func run() async {
        worker.counting(.circuit(rates.environment, isOpen: false))
        let loop = WorkLoop<ClaimedDelivery>(
            .init(
                slots: concurrency, leastRoom: max(1, min(Self.maxClaim, concurrency / 4)), minPause: Self.minPause,
                pollInterval: worker.pollInterval, runsWhenSettled: false, retry: .milliseconds(500),
                topic: .lanes(rates.environment)),
            failure: "messages that are due could not be taken from the database", worker,
            claim: { try await self.claim($0, held: $1.renewable) },
            perform: { await self.send($0) },
            extend: { try await self.extendLeases($0) })
        await loop.run()
    }

    /// The maximum number of lanes in one claim. An urgent message of another app waits for at most one such claim.
    private static let maxClaim = 100
    /// The loop rests briefly before a claim. During the rest, several verdicts are recorded together, and one claim
    /// then fills all their slots.
    private static let minPause = Duration.milliseconds(2)

    // MARK: Claim, send, settle

    /// Claims as many lanes as may be in flight.
    private func claim(_ free: Int, held: [ClaimedDelivery]) async throws -> Round<ClaimedDelivery> {
        let room = min(Self.maxClaim, free)
        let at = worker.now()
        let (admitted, pause) = shared.circuit.withLock { circuit in
            (circuit.allowance(room, flying: concurrency - free, now: at), circuit.retryIn(now: at))
        }
        guard admitted > 0 else { return .idle(until: at.addingTimeInterval(pause ?? 1)) }
        var claim = rates.newClaim(admitted, by: worker, at: at)
        (claim.laneInterval, claim.held) = (laneInterval, held.map(\.lane))
        claim.leasesEndedBefore = shared.lastReclaim.withLock { reclaiming in
            guard !reclaiming.isBusy || at.timeIntervalSince(reclaiming.last) >= 1 else { return .distantPast }
            reclaiming.last = at
            return at
        }
        let claimed = try await outbox.claim(claim)
        let claimedAt = worker.now()
        for delivery in claimed { rates.spend(1, of: delivery.address.bundleID, at: claimedAt) }
        // A claim that took fewer messages than it could leaves more work only if apps did not use their shares. A look
        // at the next due time costs less than another claim.
        let isFull = claimed.count == admitted
        shared.lastReclaim.withLock { $0.isBusy = isFull }
        return Round(work: claimed) { [self, claim] in
            guard !isFull else { return .distantPast }
            let due = try await outbox.nextDue(in: rates.environment, limits: claim.limits)
            return [rates.nextSend(at: at), due].compactMap(\.self).min()
        }
    }

    private func extendLeases(_ deliveries: [ClaimedDelivery]) async throws {
        try await LaneRows.extendLeases(
            of: Set(deliveries.map(\.lane)).sorted(), replica: worker.replica, until: worker.leasedUntil,
            in: outbox.dispatch)
    }

    private func send(_ delivery: ClaimedDelivery) async -> WorkLoop<ClaimedDelivery>.Settling {
        let sentAt = worker.now()
        // The delivery may have expired while it waited.
        let answer: APNsAnswer<Void> =
            delivery.message.isExpired(at: sentAt)
            ? .withheld("it expired before it was sent") : await gateway.send(delivery)
        note(Circuit.Outcome(answer))
        let answered = worker.now()
        // Only what was not sent is given back: an alert that may have reached APNs must not ring a second time.
        let isGivenBack =
            switch answer {
            case .unsent: Task.isCancelled
            case .withheld: rates.keys.lacks(delivery.address, at: answered)
            case .accepted, .refused, .unanswered: false
            }
        if isGivenBack { return settling(delivery.settled(nil, at: answered)) }
        let notBefore = rates.record(
            answer, of: delivery.address.bundleID, recipient: delivery.lane, sentAt: sentAt, at: answered)
        let verdict = Verdict(
            answer, attempts: delivery.message.attempts, expiresAt: delivery.message.expiresAt, now: answered,
            jitter: .random(in: 0..<1))
        let isAccepted = if case .accepted = verdict { true } else { false }
        if isAccepted, let asked = delivery.wantedAt {
            worker.counting(.apnsAccepted(after: max(0, answered.timeIntervalSince(asked))))
        }
        let isNews = rates.note(isAccepted: isAccepted, of: delivery.address.bundleID, sentAt: sentAt, at: answered)
        log(verdict, delivery, answer, isNews: isNews)
        var settled = delivery.settled(verdict, at: answered)
        (settled.mayHaveBeenProcessed, settled.throttledUntil) = (answer.mayHaveBeenProcessed, notBefore)
        return settling(settled)
    }

    private func settling(_ delivery: ClaimedDelivery) -> WorkLoop<ClaimedDelivery>.Settling {
        { [outbox] in if try await !outbox.settle(delivery) { throw Problem.contention } }
    }

    private func note(_ outcome: Circuit.Outcome) {
        let (changed, isClosed) = shared.circuit.withLock { circuit in
            (circuit.record(outcome, now: worker.now(), jitter: .random(in: 0..<1)), circuit.isClosed)
        }
        guard changed else { return }
        worker.counting(.circuit(rates.environment, isOpen: !isClosed))
        if isClosed {
            worker.logger.notice("APNs answers again; the newest states are sent")
        } else {
            worker.logger.error(
                "APNs does not answer or reports a problem; only one probe at a time is sent until it recovers")
        }
    }

    /// - Parameter isNews: whether failures of the app begin or end. Only the first failure of each outage is logged as
    ///   a warning.
    private func log(_ verdict: Verdict, _ delivery: ClaimedDelivery, _ answer: APNsAnswer<Void>, isNews: Bool) {
        // Do not build log lines for a level that is not logged: a goal causes ten thousand such lines in a second.
        if case .accepted = verdict, !isNews, worker.logger.logLevel > .debug { return }
        var metadata: Logger.Metadata = [
            "app": "\(delivery.address.bundleID)",
            "apns-request-id": "\(delivery.message.requestID.uuidString.lowercased())",
            "attempt": "\(delivery.message.attempts)",
        ]
        func log(_ level: Logger.Level, _ message: Logger.Message, _ reason: String? = nil, next: Date? = nil) {
            if let reason { metadata["reason"] = "\(reason)" }
            if let next { metadata["next"] = "\(RFC3339.text(next))" }
            worker.logger.log(level: level, message, metadata: metadata)
        }
        switch verdict {
        case .accepted where isNews: log(.notice, "APNs accepts broadcasts of the app again")
        case .accepted: log(.debug, "broadcast accepted by APNs")
        case .retry(let next, let reason), .throttled(let next, let reason):
            // Throttling and a refused key are logged elsewhere, once. So the messages that they delay are logged only
            // at the level `debug`.
            var isKnown = answer.isTooManyRequests && rates.perSecond[delivery.address.bundleID] != nil
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
