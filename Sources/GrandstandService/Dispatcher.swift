package import APNsWire
package import FoundationEssentials
package import Grandstand
internal import JSON
package import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Claims due lanes of one environment, sends their heads to its host, settles the verdicts. It learns of work from the
/// database, so one process or twenty work the same; what ails the other environment's host does not concern it.
///
/// Work that comes to its own process may be claimed with its acceptance (`Departures`), by the rules of every claim.
package final class Dispatcher: Service {
    package struct Settings: Sendable {
        /// Requests to Apple at a time: about 100 for each connection keep its windows full (docs/http2.md).
        package var concurrency: Int
        /// Lanes in one claim: a goal of another app waits for one such claim at most.
        package var batch = 100
        /// Seconds between two messages of one lane.
        package var laneInterval: TimeInterval
        /// Seconds until a lane claimed by a replica that died is taken by another. Extended while a request is under
        /// way, so it may be shorter than one.
        package var lease: TimeInterval
        /// How long a stop waits for requests under way.
        package var drain: Drain
        /// The longest sleep: then work is found whose signal was lost.
        package var pollInterval: Duration = .seconds(1)

        /// Places that must be free for a claim while others are taken: each claim waits for the disk once, however
        /// few lanes it takes.
        var leastRoom: Int { max(1, min(batch, concurrency / 4)) }

        package init(concurrency: Int, laneInterval: TimeInterval, lease: TimeInterval, drain: Drain) {
            self.concurrency = concurrency
            self.laneInterval = laneInterval
            self.lease = lease
            self.drain = drain
        }
    }

    /// The rates of this environment's apps, by API of APNs.
    package struct Rates: Sendable {
        package var broadcasts: SendRates
        package var devices: SendRates

        package init(broadcasts: SendRates, devices: SendRates) {
            self.broadcasts = broadcasts
            self.devices = devices
        }

        fileprivate subscript(_ message: ClaimedDelivery.Message) -> SendRates {
            switch message {
            case .broadcast: broadcasts
            case .push: devices
            }
        }
    }

    private let replica = UUID()
    let environment: APNsEnvironment
    private let outbox: any Outbox
    private let sends: Sends
    private let rates: Rates
    private let signals: any WakeSignals
    private let settings: Settings
    private let now: @Sendable () -> Date
    private let mayClaim: @Sendable () -> Bool
    private let counting: Counting
    private let logger: Logger
    private let doorbell = Doorbell()
    private let flights = Flights()
    /// Claimed messages on their way to be sent.
    private let outgoing = AsyncStream.makeStream(of: [ClaimedDelivery].self)
    private let departures: LocalDepartures
    private let circuit = Mutex(Circuit())

    /// - Parameter mayClaim: whether this process may take work on now; asked before every claim.
    package init(
        environment: APNsEnvironment, outbox: any Outbox, departures: LocalDepartures, sends: Sends, rates: Rates,
        signals: any WakeSignals, settings: Settings, now: @escaping @Sendable () -> Date,
        mayClaim: @escaping @Sendable () -> Bool = { true }, counting: @escaping Counting = { _ in }, logger: Logger
    ) {
        self.counting = counting
        self.environment = environment
        self.outbox = outbox
        self.departures = departures
        self.sends = sends
        self.rates = rates
        self.signals = signals
        self.settings = settings
        self.now = now
        self.mayClaim = mayClaim
        var logger = logger
        logger[metadataKey: "environment"] = "\(environment.rawValue)"
        self.logger = logger
    }

    /// Runs until a graceful stop: no more claims then, requests under way finish within `drain`, the rest is given
    /// back uncharged.
    package func run() async {
        let wakes = signals.wakes(.lanes(environment))
        counting(.circuit(environment, isOpen: false))
        await withTaskGroup(of: Void.self) { group in
            let settler = Task { await self.settleLoop() }
            group.addTask { for await _ in wakes { self.doorbell.ring() } }
            group.addTask { await self.keepLeases() }
            flights.open()
            departures.attach(self)
            let claimer = Task { await self.claimLoop() }
            let sender = Task { await self.sendLoop() }
            let (stopping, stop) = AsyncStream.makeStream(of: Void.self)
            // Not a child: the cancellation of this task must leave it the time to drain.
            let cut = Task {
                for await _ in stopping {}
                try await self.settings.drain.wait()
                self.cut(claimer, sender)
            }
            await withGracefulShutdownHandler {
                await withTaskCancellationHandler {
                    await claimer.value
                    await sender.value
                } onCancel: {
                    claimer.cancel()
                    stop.finish()
                }
            } onGracefulShutdown: {
                self.flights.stopClaiming()
                self.doorbell.ring()
                stop.finish()
            }
            cut.cancel()
            departures.detach(self)
            flights.close()
            await settler.value
            group.cancelAll()
        }
    }

    /// Ends what has outlasted the drain: a claim that waits for the database, and requests to APNs, which are given back.
    private func cut(_ claimer: Task<Void, Never>, _ sender: Task<Void, Never>) {
        claimer.cancel()
        flights.abandon(at: now())
        sender.cancel()
    }

    // MARK: Departures

    /// A claim for as many of `wanted` lanes that were brought work here as may leave with its commit.
    ///
    /// Many leave room for a claim: messages that wait in the database may be urgent, or another app's. One may have
    /// the last place.
    func departure(_ wanted: Int) -> LaneClaim? {
        guard flights.isOpen, mayClaim(), circuit.withLock({ $0.isClosed }) else { return nil }
        let free = settings.concurrency - flights.count
        let limit = min(wanted, wanted == 1 ? free : free - settings.leastRoom)
        return limit > 0 ? claim(limit) : nil
    }

    /// Sends messages that were taken by a committed claim. During a stop they are given back.
    func depart(_ deliveries: [ClaimedDelivery]) {
        spend(deliveries)
        flights.begin(deliveries)
        if case .terminated = outgoing.continuation.yield(deliveries) { flights.abandon(deliveries) }
    }

    private func spend(_ deliveries: [ClaimedDelivery]) {
        guard rates.broadcasts.isAnyLimited || rates.devices.isAnyLimited else { return }
        let now = now()
        for delivery in deliveries { rates[delivery.message].spend(1, of: delivery.address.bundleID, at: now) }
    }

    private func claim(_ limit: Int) -> LaneClaim {
        let now = now()
        var claim = LaneClaim(
            environment: environment, limit: limit, replica: replica, at: now,
            leasedUntil: now.addingTimeInterval(settings.lease), laneInterval: settings.laneInterval,
            limits: limits(at: now))
        claim.held = flights.held
        return claim
    }

    /// What apps that APNs throttles may send now: entries for both kinds of lanes of each.
    private func limits(at now: Date) -> [LaneLimit] {
        guard rates.broadcasts.isAnyLimited || rates.devices.isAnyLimited else { return [] }
        let channels = rates.broadcasts.limits(of: .channel, at: now)
        let tokens = rates.devices.limits(of: .token, at: now)
        func free(_ kind: Lane.Kind, of others: [LaneLimit], beside limits: [LaneLimit]) -> [LaneLimit] {
            let known = Set(limits.map(\.bundleID))
            return others.filter { !known.contains($0.bundleID) }.map {
                LaneLimit(bundleID: $0.bundleID, kind: kind, allowance: settings.batch, patience: 0)
            }
        }
        return channels + free(.channel, of: tokens, beside: channels) + tokens
            + free(.token, of: channels, beside: tokens)
    }

    private func sendLoop() async {
        // Discarding: an ordinary group keeps every send that has ended, for as long as the loop runs.
        await withDiscardingTaskGroup { sends in
            for await deliveries in outgoing.stream {
                for delivery in deliveries { sends.addTask { await self.send(delivery) } }
            }
        }
    }

    // MARK: Claims

    private func claimLoop() async {
        while flights.isOpen, !Task.isCancelled {
            let pause = await round()
            await doorbell.wait(atMost: pause)
        }
        flights.stopClaiming()
        outgoing.continuation.finish()
    }

    /// Claims as much as may be under way.
    ///
    /// - Returns: how long to sleep unless woken.
    private func round() async -> Duration {
        do {
            let free = settings.concurrency - flights.count
            // The landing that makes enough room rings.
            guard free >= settings.leastRoom, mayClaim() else { return settings.pollInterval }
            let room = min(settings.batch, free)
            let (admitted, pause) = circuit.withLock { circuit in
                (circuit.admits(room, flying: flights.count, now: now()), circuit.pause(now: now()))
            }
            guard admitted > 0 else { return min(settings.pollInterval, pause.map(Duration.seconds) ?? .seconds(1)) }
            let claim = claim(admitted)
            let claimed = try await outbox.claim(claim)
            if !claimed.isEmpty {
                depart(claimed)
                return .zero
            }
            let tokens = [rates.broadcasts, rates.devices].compactMap { $0.nextToken(at: claim.at) }
            let due = try await outbox.nextDue(in: environment, limits: claim.limits)
            guard let next = (tokens + [due].compactMap(\.self)).min() else { return settings.pollInterval }
            return min(settings.pollInterval, max(.milliseconds(5), .seconds(next.timeIntervalSince(now()))))
        } catch {
            logger.failed("lanes could not be claimed; trying again", error)
            return .milliseconds(500)
        }
    }

    /// Extends the leases of lanes whose messages take long, three times in each lease.
    private func keepLeases() async {
        while (try? await Task.sleep(for: .seconds(settings.lease / 3))) != nil {
            let lanes = flights.lastingLanes()
            guard !lanes.isEmpty else { continue }
            do {
                try await outbox.extendLeases(
                    of: lanes, replica: replica, until: now().addingTimeInterval(settings.lease))
            } catch {
                // Another replica may take them and repeat the same messages, which changes nothing for a device.
                logger.failed("leases could not be extended", error, at: .warning)
            }
        }
    }

    // MARK: Sends and verdicts

    private func send(_ delivery: ClaimedDelivery) async {
        let sentAt = now()
        let answer = await sends.send(delivery)
        note(Circuit.Outcome(answer))
        let answered = now()
        let notBefore = rates[delivery.message].record(
            answer, of: delivery.address.bundleID, lane: delivery.lane, sentAt: sentAt, at: answered)
        let verdict = Verdict(
            answer, of: delivery.message.subject, attempts: delivery.attempts, expiresAt: delivery.expiresAt,
            now: answered,
            jitter: .random(in: 0..<1))
        if case .accepted = verdict, let asked = delivery.askedAt {
            counting(.accepted(after: max(0, answered.timeIntervalSince(asked))))
        }
        log(verdict, delivery, answer)
        let flying = flights.land(
            Settlement(
                delivery: delivery.id, lane: delivery.lane, verdict: verdict, at: answered,
                mayBeProcessed: answer.mayBeProcessed, notBefore: notBefore))
        if flying == settings.concurrency - settings.leastRoom { doorbell.ring() }
    }

    private func note(_ outcome: Circuit.Outcome) {
        let (changed, isClosed) = circuit.withLock { circuit in
            (circuit.record(outcome, now: now(), jitter: .random(in: 0..<1)), circuit.isClosed)
        }
        guard changed else { return }
        counting(.circuit(environment, isOpen: !isClosed))
        if isClosed {
            logger.notice("APNs answers again; the newest states go")
            doorbell.ring()
        } else {
            logger.error("APNs does not answer or is not well; one message at a time until it is")
        }
    }

    /// Settles verdicts many at a time: what arrives while one batch is written makes the next. Lanes that somebody else
    /// has locked are left to a later batch.
    private func settleLoop() async {
        while let batch = await flights.landed() {
            var pause = Duration.milliseconds(50)
            while true {
                do {
                    var locked = try await outbox.settle(batch.settlements, replica: replica, now: now())
                    if !batch.abandoned.isEmpty {
                        locked.formUnion(try await outbox.release(batch.abandoned, replica: replica, now: now()))
                    }
                    if flights.settled(batch, except: locked) { doorbell.ring() }
                    break
                } catch {
                    // Unsettled lanes stay leased; when the lease ends, the same message goes again unchanged.
                    logger.failed("verdicts could not be settled; trying again", error)
                    if flights.isClosed { break }
                    try? await Task.sleep(for: pause)
                    pause = min(pause * 2, .seconds(2))
                }
            }
        }
    }

    private func log(_ verdict: Verdict, _ delivery: ClaimedDelivery, _ answer: APNsAnswer<Void>) {
        // A log line that no level shows is not built, ten thousand times in a goal's second.
        if case .accepted = verdict, logger.logLevel > .debug { return }
        var metadata: Logger.Metadata = [
            "app": "\(delivery.address.bundleID)",
            "apns-request-id": "\(delivery.message.requestID.uuidString.lowercased())",
            "attempt": "\(delivery.attempts)",
        ]
        let name = delivery.message.subject == .broadcast ? "broadcast" : "push"
        switch verdict {
        case .accepted:
            logger.debug("\(name) accepted by APNs", metadata: metadata)
        case .retry(let at, let reason), .throttled(let at, let reason):
            metadata["reason"] = "\(reason)"
            metadata["next"] = "\(RFC3339.text(at))"
            // That APNs throttles the app or refuses its key is said once, not for each message.
            var isKnown = answer.isTooManyRequests && rates[delivery.message].isAnyLimited
            if case .refused(let refusal) = answer, refusal.isOfRefusedKey { isKnown = true }
            logger.log(level: isKnown ? .debug : .warning, "\(name) goes again", metadata: metadata)
        case .channelDoubted(let refusal, let next?):
            metadata["reason"] = "\(refusal.reason)"
            metadata["next"] = "\(RFC3339.text(next))"
            logger.warning(
                "APNs does not know a channel; that is looked into, and the broadcast goes again", metadata: metadata)
        case .rejected(let refusal), .channelDoubted(let refusal, nil):
            metadata["reason"] = "\(refusal.reason)"
            logger.error("\(name) refused by APNs", metadata: metadata)
        case .expired(let reason):
            metadata["reason"] = "\(reason)"
            logger.error("\(name) expired unsent", metadata: metadata)
        case .unknown(let reason):
            metadata["reason"] = "\(reason)"
            logger.error("APNs' answer to a start did not come; it is not repeated", metadata: metadata)
        }
    }
}
