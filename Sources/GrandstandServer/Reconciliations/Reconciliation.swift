internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON
internal import Logging

/// A reconciliation compares Apple's list with our channels and acts on the differences.
extension ChannelCalls {
    /// The maximum number of channels that one run reads singly. The next run reads the other channels.
    private static let maxReads = 500

    /// Reconciles one app and environment now, for an operator who waits.
    ///
    /// - Throws: `app-not-found`, `reconciliation-running`; `apns-refused`, `apns-unanswered` or `credentials-missing`
    ///   if Apple's list could not be read; in this case, nothing was changed.
    func reconcile(_ app: AppEnvironment, _ options: ReconciliationOptions, by actor: AuditActor) async throws
        -> Contract.Reconciliation
    { try await perform(channels.beginReconciliation(app, now: now(), leasedUntil: leasedUntil), options, by: actor) }

    /// The loop that reconciles every app and environment regularly, and after each unanswered creation. It makes only
    /// changes that are certain. It never deletes or adopts a channel that was created elsewhere; only people can request
    /// such a deletion or adoption.
    ///
    /// Several runs may be in progress, so that an app with slow calls does not delay others. A check for due runs takes
    /// milliseconds among 10,000 channels, and each new channel asks for a check. Without the rest between checks, they
    /// took as much of PostgreSQL's time as declaring the 10,000 events.
    ///
    /// - Parameter interval: seconds between two runs for one app and environment; 0: only necessary runs.
    func reconciling(every interval: TimeInterval, _ options: ReconciliationOptions) -> WorkLoop<ReconciliationRun> {
        WorkLoop(
            .init(slots: 4, minPause: .milliseconds(250), pollInterval: worker.pollInterval, topic: .channels),
            failure: "reconciliations could not be claimed", worker,
            claim: { _, _ in
                let run = try await channels.claimDue(interval: interval, now: now(), leasedUntil: leasedUntil)
                // The poll of each second finds what is due then.
                return await .claimed(run.map { [$0] } ?? []) { nil }
            },
            perform: { run in
                do { _ = try await perform(run, options, by: .server) } catch is Problem {
                    // Apple's list could not be read, which was logged, or another replica has the run.
                } catch {
                    logger.failed("a reconciliation failed; trying again", error)
                }
                return nil
            })
    }

    /// Performs a leased run. The lease ends in every case.
    ///
    /// - Throws: a `Problem` if Apple's list could not be read, which changed nothing, or if another replica has the
    ///   run's lease by now; the errors of the store.
    func perform(_ run: ReconciliationRun, _ options: ReconciliationOptions, by actor: AuditActor) async throws
        -> Contract.Reconciliation
    {
        let keeper = worker.keepLease { try await channels.extend(run, until: leasedUntil) }
        defer { keeper.cancel() }
        do {
            let listedAt = now()
            let answer = await gateway.listChannels(at: run.address)
            guard case .accepted(let listing, _) = answer else {
                log("the list of channels", answer, run.address)
                throw try await problem(answer, address: run.address, verb: "list the channels")
            }
            var run = run
            // APNs accepted the request for the list, so the alarm `capabilityOff` has ended.
            run.address.isCapabilityOff = false
            let plan = try await channels.observe(listing, listedAt: listedAt, seenAt: now(), run)
            let questions = plan.singleReads(options, now: now(), limit: Self.maxReads)
            let readings = await each(questions) {
                [address = run.address] id -> (String, ReconciliationPlan.Reading)? in
                guard let read = try? await read(id, at: address) else { return nil }
                return (id, read.policy.map { .exists($0) } ?? .gone)
            }
            let (actions, alarm) = plan.conclusions(readings, options, now: now())
            let steps = try await act(actions, alarm: alarm, run, options, by: actor)
            let report = Contract.Reconciliation(
                id: UUID().text, bundleId: run.address.bundleID.rawValue, environment: .init(run.address.environment),
                actor: actor.text, startedAt: run.startedAt, finishedAt: now(),
                applied: options.apply && alarm != .capabilityOff, apple: listing.channelIDs.count,
                ledger: plan.expected.count, matched: plan.matched,
                missing: plan.vanished.map { entry in
                    .init(
                        id: entry.id.text, channelId: entry.channelID, storagePolicy: .init(entry.storagePolicy),
                        eventKey: entry.eventKey?.rawValue, variant: entry.variant?.rawValue)
                }, unmanaged: plan.unmanaged.map { .init($0, readings[$0.channelID]) }, actions: steps, alarm: alarm,
                notes: notes(alarm))
            try await channels.finish(run, report, recreates: options.apply && options.recreate, now: now())
            log(report)
            worker.counting(.reconciled(alarm == nil ? .ok : .alarm))
            return report
        } catch {
            // If another replica took over the run, that replica counts it.
            let isLost = (error as? Problem)?.kind == .reconciliationRunning
            if !isLost { worker.counting(.reconciled(.failed)) }
            try? await channels.fail(run, again: now() + .random(in: 4..<8), now: now())
            throw error
        }
    }

    // MARK: Steps

    /// Calls Apple about each item, several at a time.
    ///
    /// - Returns: the answers by channel ID.
    private func each<Item: Sendable, Answer: Sendable>(
        _ items: [Item], _ call: @escaping @Sendable (Item) async -> (String, Answer)?
    ) async -> [String: Answer] {
        var answers: [String: Answer] = [:]
        for start in stride(from: 0, to: items.count, by: 16) {
            await withTaskGroup(of: (String, Answer)?.self) { group in
                for item in items[start...].prefix(16) { group.addTask { await call(item) } }
                for await case let (id, answer)? in group { answers[id] = answer }
            }
        }
        return answers
    }

    /// Performs the actions. If an action is not performed, says why.
    private func act(
        _ actions: [ReconciliationAction], alarm: Contract.ReconciliationAlarm?, _ run: ReconciliationRun,
        _ options: ReconciliationOptions, by actor: AuditActor
    ) async throws -> [Contract.ReconciliationAction] {
        guard options.apply, alarm != .capabilityOff, !actions.isEmpty else {
            return actions.map { Contract.ReconciliationAction($0, done: false) }
        }
        let (done, deletions) = try await channels.apply(actions, run, by: actor, now: now(), leasedUntil: leasedUntil)
        // Why a channel is not deleted yet; in this case the server keeps trying.
        let failures = await each(deletions) { task -> (String, String)? in
            let deleted = try? await delete(task, by: actor).0
            guard let channelID = task.channel.channelID, deleted?.state != .deleted else { return nil }
            return (channelID, "\(deleted?.reason ?? "not deleted"); the server keeps trying")
        }
        return zip(actions, done).map { action, done in
            let failure = done ? failures[action.channelID ?? ""] : "the ledger has changed"
            return Contract.ReconciliationAction(action, done: failure == nil, detail: failure)
        }
    }

    /// What the alarm means, and what to do.
    private func notes(_ alarm: Contract.ReconciliationAlarm?) -> [String] {
        guard let meaning = alarm.flatMap({ ContractText.help("Reconciliation", "alarm", word: $0.rawValue) }) else {
            return []
        }
        return [meaning]
            + (alarm == .capabilityOff ? ["\(Advice.capability) Then repeat with apply and recreate."] : [])
    }

    private func log(_ report: Contract.Reconciliation) {
        let done = report.actions?.count(where: \.done) ?? 0
        logger.log(
            level: report.alarm != nil ? .error : done > 0 ? .notice : .info, "reconciled",
            metadata: [
                "app": "\(report.bundleId)", "environment": "\(report.environment.rawValue)", "report": "\(report.id)",
                "actions": "\(done)", "alarm": "\(report.alarm?.rawValue ?? "none")",
            ])
    }
}

extension Contract.UnmanagedChannel {
    fileprivate init(_ channel: UnmanagedChannel, _ reading: ReconciliationPlan.Reading?) {
        self.init(channelId: channel.channelID, firstSeenAt: channel.firstSeenAt)
        if case .exists(let policy) = reading { storagePolicy = .init(policy) }
    }
}

extension Contract.ReconciliationAction {
    fileprivate init(_ action: ReconciliationAction, done: Bool, detail: String? = nil) {
        let entry = action.entry
        self.init(
            action: action.name, id: entry?.id.text, eventKey: entry?.eventKey?.rawValue,
            variant: entry?.variant?.rawValue, channelId: action.channelID, done: done, detail: detail)
    }
}

extension Configuration {
    /// What a reconciliation may do, and how much it may delete.
    func reconciliation(_ draft: Contract.ReconciliationDraft) -> ReconciliationOptions {
        .init(draft, grace: self.reconcileGrace, deleteBudget: self.deleteBudget)
    }
}

/// `/v1/apps/{bundleId}/{environment}/reconciliations`: compares Apple's list with the ledger.
extension API {
    var reconciliationRoutes: [Route] {
        let (apps, store, operations) = (stores.apps, stores.channels, channelOperations)
        return [
            // There is nothing to recover: an interrupted reconciliation is run again.
            Route(.reconcile, recall: { _, _ in nil }) { request, context in
                let draft = try Contract.ReconciliationDraft.read(try await request.json(orIfEmpty: "{}"))
                return .json(
                    try await operations.reconcile(
                        try context.app(), configuration.reconciliation(draft), by: context.actor), status: .created)
            },
            Route(.listReconciliations) { _, context in
                let (app, part) = (try context.app(), try context.query.page())
                _ = try await apps.registered(app.bundleID)
                return .json(try await store.reports(of: app, part))
            },
            Route(.getReconciliation) { _, context in
                let (app, id) = (try context.app(), try context.id(orThrow: .reconciliationNotFound))
                _ = try await apps.registered(app.bundleID)
                return .json(try await store.report(id, of: app))
            },
        ]
    }
}
