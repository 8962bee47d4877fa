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
    private static let reads = 500
    private static let concurrency = 16
    /// If a run did not find out the outcome of a creation, the run is repeated after this many seconds.
    private static let secondLook: TimeInterval = 3

    /// Reconciles one app and environment now, for an operator who waits.
    ///
    /// - Throws: `app-not-found`, `reconciliation-running`; `apns-refused`, `apns-unanswered` or `credentials-missing`
    ///   if Apple's list could not be read; in this case, nothing was changed.
    func reconcile(
        _ app: AppEnvironment, _ options: ReconciliationOptions, by actor: AuditActor
    ) async throws -> Contract.Reconciliation {
        try await perform(
            channels.begin(app, now: now(), leasedUntil: leasedUntil), options, by: actor)
    }

    /// The loop that reconciles every app and environment regularly, and after each unanswered creation. It makes only
    /// changes that are certain. It never deletes or adopts a channel that was created elsewhere; only people can request
    /// such a deletion or adoption.
    ///
    /// Several runs may be in progress, so that an app with slow calls does not delay others. A check for due runs takes
    /// milliseconds among 10,000 channels, and each new channel asks for a check. Without the rest between checks, they
    /// took as much of PostgreSQL's time as declaring the 10,000 events.
    ///
    /// - Parameter interval: seconds between two runs for one app and environment; 0: only necessary runs.
    func reconciling(
        every interval: TimeInterval, _ options: ReconciliationOptions
    ) -> WorkLoop<ReconciliationRun> {
        WorkLoop(
            .init(places: 4, rest: .milliseconds(250), pollInterval: .seconds(5), topic: .channels),
            failure: "reconciliations could not be claimed", worker,
            claim: { _, _ in
                let run = try await channels.claimDue(
                    interval: interval, now: now(), leasedUntil: leasedUntil)
                return try await .claimed(run.map { [$0] } ?? []) {
                    try await channels.nextDue(interval: interval, now: now())
                }
            },
            perform: { run in
                do {
                    _ = try await perform(run, options, by: .server)
                } catch is Problem {
                    // Apple's list could not be read, which was logged, or another replica has the run.
                } catch {
                    logger.failed("a reconciliation failed; trying again", error)
                    try? await Task.sleep(for: .seconds(1))
                }
                return nil
            })
    }

    /// Performs a leased run. The lease ends in every case.
    ///
    /// - Throws: a `Problem` if Apple's list could not be read, which changed nothing, or if another replica has the
    ///   run's lease by now; the errors of the store.
    func perform(
        _ run: ReconciliationRun, _ options: ReconciliationOptions, by actor: AuditActor
    ) async throws -> Contract.Reconciliation {
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
            // A creation without an answer makes a run due. If this run did not find out the outcome of that creation,
            // the next run is delayed. Without the delay, one run would follow another immediately, again and again.
            let again = plan.leavesUnanswered(zip(actions, steps).filter(\.1.done).map(\.0))
            try await channels.finish(
                run, report, again: again ? now().addingTimeInterval(Self.secondLook) : nil,
                recreates: options.apply && options.recreate, now: now())
            log(report)
            worker.counting(.reconciled(alarm == nil ? .ok : .alarm))
            return report
        } catch {
            // If another replica took over the run, that replica counts it.
            if (error as? Problem)?.kind != .reconciliationRunning { worker.counting(.reconciled(.failed)) }
            let again = RetryPolicy.channels.nextAttempt(
                after: run.failures + 4, now: now(), jitter: .random(in: 0..<1))
            try? await channels.fail(run, again: again, now: now())
            throw error
        }
    }

    // MARK: Steps

    /// Asks Apple about each channel, several at a time.
    private func read(
        _ channelIDs: [String], _ run: ReconciliationRun
    ) async throws -> [String: ReconciliationPlan.Reading] {
        let readings = await each(channelIDs) { channelID -> (String, ReconciliationPlan.Reading)? in
            guard let read = try? await read(channelID, at: run.address) else { return nil }
            return (channelID, read.policy.map { .exists($0) } ?? .gone)
        }
        let policies = readings.compactMapValues { if case .exists(let policy) = $0 { policy } else { nil } }
        try await channels.keep(policies: policies, run)
        return readings
    }

    /// Calls Apple about each item, several at a time.
    ///
    /// - Returns: the answers by channel ID.
    private func each<Item: Sendable, Answer: Sendable>(
        _ items: [Item], _ call: @escaping @Sendable (Item) async -> (String, Answer)?
    ) async -> [String: Answer] {
        var answers: [String: Answer] = [:]
        for start in stride(from: 0, to: items.count, by: Self.concurrency) {
            await withTaskGroup(of: (String, Answer)?.self) { group in
                for item in items[start...].prefix(Self.concurrency) { group.addTask { await call(item) } }
                for await case let (channelID, answer)? in group { answers[channelID] = answer }
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
        let (done, deletions) = try await channels.apply(
            actions, run, by: actor, now: now(), leasedUntil: leasedUntil)
        // Why a channel is not deleted yet; in this case the server keeps trying.
        let failures = await each(deletions) { task -> (String, String)? in
            let deleted = try? await delete(task, by: actor).0
            guard let channelID = task.channel.channelID, deleted?.state != .deleted else { return nil }
            let why = deleted.map { $0.reason ?? "not deleted" } ?? "its outcome was not recorded"
            return (channelID, "\(why); the server keeps trying")
        }
        return zip(actions, done).map { action, done in
            let failure = done ? action.channelID.flatMap { failures[$0] } : "the ledger had changed meanwhile"
            return Contract.ReconciliationAction(action, done: failure == nil, detail: failure)
        }
    }

    // MARK: Words

    private func notes(
        _ listing: ChannelListing, _ plan: ReconciliationPlan, _ options: ReconciliationOptions,
        _ alarm: Contract.ReconciliationAlarm?, _ actions: [ReconciliationAction]
    ) -> [String] {
        var notes: [String] =
            switch alarm {
            case .capabilityOff:
                [
                    "Every known channel vanished at once, as when the Broadcast Capability of the App ID is "
                        + "turned off. Nothing was changed. Check it at developer.apple.com; then repeat with "
                        + "apply and recreate, so that live events get new channels."
                ]
            case .listIncomplete:
                [
                    "APNs has channels that are missing from its list, so a channel's absence from the list was "
                        + "not taken as proof."
                ]
            case .ambiguousCreation:
                [
                    "APNs did not answer a request to create a channel. Channels in its list may be the result, "
                        + "or another system's. The server adopted none of them and repeats the request. Check "
                        + "the unmanaged channels: adopt or delete them."
                ]
            case .unknown, nil: []
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
        logger.log(
            level: report.alarm != nil ? .error : done > 0 ? .notice : .info,
            "\(report.alarm.map { "reconciliation raises an alarm: \($0.rawValue)" } ?? "reconciled")",
            metadata: [
                "app": "\(report.bundleId)", "environment": "\(report.environment.rawValue)",
                "apple": "\(report.apple)", "ledger": "\(report.ledger)", "missing": "\(report.missing?.count ?? 0)",
                "unmanaged": "\(report.unmanaged?.count ?? 0)", "actions": "\(done)",
            ])
    }
}

extension Contract.MissingChannel {
    fileprivate init(_ entry: Channel) {
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

extension Configuration {
    /// What a reconciliation may do, and how much it may delete.
    func reconciliation(_ draft: Contract.ReconciliationDraft) -> ReconciliationOptions {
        ReconciliationOptions(draft, grace: self.reconcileGrace, deleteBudget: self.reconcileDeleteBudget)
    }
}

/// `/v1/apps/{bundleId}/{environment}/reconciliations`: compares Apple's list with the ledger.
extension API {
    var reconciliationRoutes: [Route] {
        let (apps, store, operations) = (stores.apps, stores.channels, channelOperations)
        return [
            // There is nothing to recover: an interrupted reconciliation is run again.
            Route(.reconcile, recover: { _, _ in nil }) { request, context in
                let app = try context.app()
                let options = configuration.reconciliation(try .read(try await request.json(orIfEmpty: "{}")))
                return .json(try await operations.reconcile(app, options, by: context.actor), status: .created)
            },
            Route(.listReconciliations) { _, context in
                let app = try context.app()
                let part = try context.query.page()
                _ = try await apps.registered(app.bundleID)
                return .json(try await store.reports(of: app, part))
            },
            Route(.getReconciliation) { _, context in
                let app = try context.app()
                let id = try context.id(orThrow: .reconciliationNotFound)
                return .json(try await store.report(id, of: app, among: apps))
            },
        ]
    }
}
