internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Logging

/// One reconciliation: compares Apple's list with our channels and acts on the differences.
struct Reconciliation: Sendable {
    let calls: ChannelCalls
    var counting: Counting = { _ in }

    /// The maximum number of channels that one run reads singly. The next run reads the other channels.
    private static let reads = 500
    private static let concurrency = 16
    /// If a run did not find out the outcome of a creation, the run is repeated after this many seconds.
    private static let secondLook: TimeInterval = 3

    var store: ReconciliationStore { calls.reconciliations }
    private var logger: Logger { calls.logger }

    func now() -> Date { calls.now() }

    /// Reconciles one app and environment now, for an operator who waits.
    ///
    /// - Throws: `app-not-found`, `reconciliation-running`; `apns-refused`, `apns-unanswered` or `credentials-missing`
    ///   if Apple's list could not be read; in this case, nothing was changed.
    func reconcile(
        _ app: AppEnvironment, _ options: ReconciliationOptions, by actor: AuditActor
    ) async throws -> Contract.Reconciliation {
        let run = try await store.begin(app, now: now(), leasedUntil: calls.leasedUntil)
        do {
            return try await perform(run, options, by: actor)
        } catch is ReconciliationLost {
            throw Problem(
                .reconciliationRunning, "Another server took this reconciliation over. GET the list for its report.",
                retryAfter: 5)
        }
    }

    /// Performs a leased run. The lease ends in every case.
    ///
    /// - Throws: a `Problem` if Apple's list could not be read, which changed nothing; `ReconciliationLost`, the errors of
    ///   the store.
    func perform(
        _ run: ReconciliationRun, _ options: ReconciliationOptions, by actor: AuditActor
    ) async throws -> Contract.Reconciliation {
        let keeper = keepLease(of: calls.lease, logger) { try await store.extend(run, until: calls.leasedUntil) }
        defer { keeper.cancel() }
        do {
            let report = try await carryOut(run, options, by: actor)
            counting(.reconciled(report.alarm == nil ? .ok : .alarm))
            return report
        } catch {
            // If another replica took over the run, that replica counts it.
            if !(error is ReconciliationLost) { counting(.reconciled(.failed)) }
            let again = RetryPolicy.channels.nextAttempt(
                after: run.failures + 4, now: now(), jitter: .random(in: 0..<1))
            try? await store.fail(run, again: again, now: now())
            throw error
        }
    }

    private func carryOut(
        _ run: ReconciliationRun, _ options: ReconciliationOptions, by actor: AuditActor
    ) async throws -> Contract.Reconciliation {
        let listedAt = now()
        let answer = await calls.gateway.listChannels(at: run.address)
        guard case .accepted(let listing, _) = answer else {
            calls.log("the list of channels", answer, run.address)
            throw try await calls.problem(answer, address: run.address, verb: "list the channels")
        }
        var run = run
        // APNs accepted the request for the list, so the alarm `capabilityOff` has ended.
        run.address.isCapabilityOff = false
        let snapshot = try await store.observe(listing, listedAt: listedAt, seenAt: now(), run)
        let plan = ReconciliationPlan(listing, snapshot)
        let readings = try await read(plan.questions(options, now: now(), limit: Self.reads), run)
        let (actions, alarm) = plan.conclusions(readings, options, now: now())

        let steps = try await act(actions, alarm: alarm, run, options, by: actor)
        let report = Contract.Reconciliation(
            id: UUID().words, bundleId: run.address.bundleID.rawValue, environment: .init(run.address.environment),
            actor: actor.text, startedAt: run.startedAt, finishedAt: now(),
            applied: options.apply && alarm != .capabilityOff, apple: listing.channelIDs.count,
            ledger: plan.expected.count, matched: plan.matched,
            missing: plan.vanished.map(Contract.MissingChannel.init),
            unmanaged: plan.unmanaged.map(Contract.UnmanagedChannel.init), actions: steps, alarm: alarm,
            notes: notes(listing, plan, options, alarm, actions))
        // A creation without an answer makes a run due. If this run did not find out the outcome of that creation, the
        // next run is delayed. Without the delay, one run would follow another immediately, again and again.
        let again = plan.leavesUnanswered(zip(actions, steps).filter(\.1.done).map(\.0))
        try await store.finish(
            run, report, again: again ? now().addingTimeInterval(Self.secondLook) : nil,
            recreates: options.apply && options.recreate, now: now())
        log(report)
        return report
    }

    // MARK: Steps

    /// Asks Apple about each channel, several at a time.
    private func read(
        _ channelIDs: [String], _ run: ReconciliationRun
    ) async throws -> [String: ReconciliationPlan.Reading] {
        let readings = try await each(channelIDs, run) { await reading(of: $0, run.address) }
        var policies: [String: StoragePolicy] = [:]
        for case (let channelID, .exists(let policy)) in readings { policies[channelID] = policy }
        if !policies.isEmpty { try await store.keep(policies: policies, run) }
        return readings
    }

    /// Calls Apple about each item, several at a time. The run keeps its lease meanwhile.
    private func each<Item: Hashable & Sendable, Answer: Sendable>(
        _ items: [Item], _ run: ReconciliationRun, _ call: @escaping @Sendable (Item) async -> Answer
    ) async throws -> [Item: Answer] {
        var answers: [Item: Answer] = [:]
        for start in stride(from: 0, to: items.count, by: Self.concurrency) {
            try await store.extend(run, until: calls.leasedUntil)
            await withTaskGroup(of: (Item, Answer).self) { group in
                for item in items[start..<min(start + Self.concurrency, items.count)] {
                    group.addTask { (item, await call(item)) }
                }
                for await (item, answer) in group { answers[item] = answer }
            }
        }
        return answers
    }

    private func reading(of channelID: String, _ address: APNsAddress) async -> ReconciliationPlan.Reading {
        switch await calls.gateway.readChannel(channelID, at: address) {
        case .accepted(let policy, _): .exists(policy)
        case .refused(let refusal) where refusal.saysUnknownChannel: .gone
        case .refused, .unanswered, .unsent, .withheld: .unknown
        }
    }

    /// Performs the actions. If an action is not performed, says why.
    private func act(
        _ actions: [ReconciliationAction], alarm: Contract.ReconciliationAlarm?, _ run: ReconciliationRun,
        _ options: ReconciliationOptions, by actor: AuditActor
    ) async throws -> [Contract.ReconciliationAction] {
        guard options.apply, alarm != .capabilityOff, !actions.isEmpty else {
            return actions.map { Contract.ReconciliationAction($0, done: false) }
        }
        let (done, deletions) = try await store.apply(
            actions, run, by: actor, now: now(), leasedUntil: calls.leasedUntil)
        let failures = try await each(deletions, run) { await delete($0, by: actor) }
        let details = Dictionary(failures.map { ($0.key.channel.channelID, $0.value) }) { first, _ in first }
        return zip(actions, done).map { action, done in
            let failure = action.deletes ? details[action.channelID] ?? nil : nil
            return Contract.ReconciliationAction(
                action, done: done && failure == nil, detail: done ? failure : "the ledger had changed meanwhile")
        }
    }

    /// - Returns: why the channel is not deleted yet; in this case the server keeps trying. `nil`: the channel is
    ///   deleted.
    private func delete(_ task: ChannelTask, by actor: AuditActor) async -> String? {
        do {
            let (channel, _) = try await calls.delete(task, by: actor)
            return channel.state == .deleted ? nil : "\(channel.reason ?? "not deleted"); the server keeps trying"
        } catch {
            return "its outcome was not recorded; the server keeps trying"
        }
    }

    // MARK: Words

    private func notes(
        _ listing: ChannelListing, _ plan: ReconciliationPlan, _ options: ReconciliationOptions,
        _ alarm: Contract.ReconciliationAlarm?, _ actions: [ReconciliationAction]
    ) -> [String] {
        var notes: [String] = []
        switch alarm {
        case .capabilityOff:
            notes.append(
                "Every known channel vanished at once, as when the Broadcast Capability of the App ID is turned off. "
                    + "Nothing was changed. Check it at developer.apple.com; then repeat with apply and recreate, "
                    + "so that live events get new channels.")
        case .listIncomplete:
            notes.append(
                "APNs has channels that are missing from its list, so a channel's absence from the list was not "
                    + "taken as proof.")
        case .ambiguousCreation:
            notes.append(
                "APNs did not answer a request to create a channel. Channels in its list may be the result, or "
                    + "another system's. The server adopted none of them and repeats the request. Check the "
                    + "unmanaged channels: adopt or delete them."
            )
        case .unknown, nil: break
        }
        if !listing.otherMembers.isEmpty {
            notes.append(
                "APNs' list has members that this server does not know: \(listing.otherMembers.joined(separator: ", "))."
            )
        }
        if options.deleteUnmanaged {
            let young = plan.unmanaged.count { $0.firstSeenAt.addingTimeInterval(options.grace) > now() }
            if young > 0 { notes.append("\(young) unmanaged channels are younger than the grace period.") }
            let named = Set(actions.compactMap(\.channelID))
            let left = plan.unmanaged.count - young - plan.unmanaged.count { named.contains($0.channelID) }
            if left > 0, actions.count(where: \.deletes) >= options.deleteBudget {
                notes.append(
                    "The budget of \(options.deleteBudget) deletions is used up; \(left) unmanaged channels are "
                        + "left. Run it again, or raise GRANDSTAND_RECONCILE_DELETE_BUDGET.")
            }
        }
        return notes
    }

    private func log(_ report: Contract.Reconciliation) {
        let done = report.actions?.count(where: \.done) ?? 0
        let metadata: Logger.Metadata = [
            "app": "\(report.bundleId)", "environment": "\(report.environment.rawValue)",
            "apple": "\(report.apple)", "ledger": "\(report.ledger)", "missing": "\(report.missing?.count ?? 0)",
            "unmanaged": "\(report.unmanaged?.count ?? 0)", "actions": "\(done)",
        ]
        if let alarm = report.alarm {
            logger.error("reconciliation raises an alarm: \(alarm.rawValue)", metadata: metadata)
        } else if done > 0 {
            logger.notice("reconciled, with changes", metadata: metadata)
        } else {
            logger.info("reconciled", metadata: metadata)
        }
    }
}

extension Contract.MissingChannel {
    fileprivate init(_ entry: LedgerSnapshot.Entry) {
        self.init(
            id: entry.id.words, channelId: entry.channelID, storagePolicy: .init(entry.storagePolicy),
            eventKey: entry.eventKey?.rawValue, variant: entry.variant?.rawValue)
    }
}

extension Contract.UnmanagedChannel {
    fileprivate init(_ channel: UnmanagedChannel) {
        self.init(
            channelId: channel.channelID, firstSeenAt: channel.firstSeenAt,
            storagePolicy: channel.storagePolicy.map(Contract.StoragePolicy.init))
    }
}

extension Contract.ReconciliationAction {
    fileprivate init(_ action: ReconciliationAction, done: Bool, detail: String? = nil) {
        let entry = action.entry
        self.init(
            action: action.name, id: entry?.id.words, eventKey: entry?.eventKey?.rawValue,
            variant: entry?.variant?.rawValue, channelId: action.channelID, done: done, detail: detail)
    }
}
