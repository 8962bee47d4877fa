internal import Foundation
internal import GrandstandClient

/// The upload loop: it does one thing at a time, then sleeps until something changes or is due.
extension LiveActivities {
    /// Wakes the loop, because there may be something to do.
    func wake() { bell.continuation.yield() }

    /// Reads the system's state and records it. Then ends the pauses between attempts, except the pauses that the
    /// server asked for.
    func readAndRetry() async {
        await readHost()
        keep { $0.repeatInDoubt() }
        lockBackoff.hurry()
        planner.hurry(at: time.uptime(), repeatAfter: record.repetition?.delay(at: time.now(), jitter: time.random()))
        for key in startBackoffs.keys { startBackoffs[key]?.hurry() }
        wake()
    }

    /// Reads the system's state and records it. Only one reading runs at a time, so that an older state never replaces
    /// a newer one.
    private func readHost() async {
        let look = Task { [reading] in
            await reading?.value
            var (known, condition) = (self.record, await self.host.condition())
            // An activity that was started during the reading is not in it, and would count as removed.
            while known != self.record { (known, condition) = (self.record, await self.host.condition()) }
            self.condition = condition
            self.mustReadHost = false
            var replaced: [String] = []
            self.keep { replaced = $0.merge(condition) }
            // People see one activity of an event.
            for card in replaced { await self.host.end(card, contentState: nil, atOnce: true) }
        }
        reading = look
        await look.value
    }

    /// Records what the system said. If the record is locked, for example before the first unlock, the system is read
    /// again as soon as the record is accessible.
    private func keep(_ change: (inout DeviceRecord) -> Void) {
        do { try update { change(&$0) } } catch { mustReadHost = true }
    }

    /// Handles a change on the device, and records what must be uploaded.
    func handle(_ event: HostEvent) async {
        switch event {
        // The repair makes requests, which must not delay the next event.
        case .cameToFront: Task { await refresh() }
        case .startToken(let type, let token): keep { $0.changeFacts { $0.tokens[type] = token } }
        // Read the state again, because the event may be older than the last reading.
        case .changed: await readHost()
        }
        wake()
    }

    /// Does the next piece of work, or waits until there is work.
    func step() async {
        // A forgotten installation needs no identity until people follow or show something again.
        guard !record.isGone else { return await rest(until: nil) }
        guard let identity = await identify() else { return await rest(until: lockBackoff.notBefore) }
        if let next = nextStart, next.at <= time.uptime() {
            _ = await attempt(next.wanted).value
            return
        }
        switch planner.next(record, at: time.uptime()) {
        case .send(let request):
            // Record the request before it is sent. Otherwise the app would not know of the request after a kill.
            do { try update { planner.willSend(request, &$0) } } catch { return pause(for: error) }
            do {
                let isNew = try await server.perform(request, as: identity)
                settle(request, .success(isNew), by: identity)
            } catch { settle(request, .failure(error), by: identity) }
        case .wait(let until): await rest(until: min(until, nextStart?.at ?? until))
        case .idle: await rest(until: [nextStart?.at, planner.renewTime(of: record)].compactMap(\.self).min())
        }
    }

    /// Returns the identity of this installation, and creates it the first time. If the record comes from another
    /// phone, its tokens were dropped; if the record was locked, it lacks the latest changes. In both cases, the
    /// system's state is first read again and recorded.
    ///
    /// - Returns: `nil` if the keychain or the record cannot be read now.
    private func identify() async -> InstallationIdentity? {
        if identity == nil || mustReadHost {
            guard lockBackoff.notBefore <= time.uptime() else { return nil }
            do {
                let kept = try identity ?? store.identity()
                if try update({ $0.reassign(to: kept.installationId) }) { mustReadHost = true }
                identity = kept
                if mustReadHost { await readHost() }
                guard !mustReadHost else { throw LiveActivitiesError.locked(recordError ?? "") }
                lockBackoff.succeed()
            } catch {
                identityError = "\(error)"
                lockBackoff.fail(at: time.uptime(), jitter: time.random())
                return nil
            }
        }
        identityError = nil
        return identity
    }

    private func settle(
        _ request: DeviceRequest, _ outcome: Result<Bool, any Error>, by identity: InstallationIdentity
    ) {
        let (now, jitter) = (time.uptime(), time.random())
        var settled = planner
        do {
            let consequence = try update { record in
                if case .register = request, case .success = outcome {
                    record.repetition = Reregistration(registered: time.now(), chance: jitter)
                }
                return settled.settle(request, outcome, &record, at: now, jitter: jitter)
            }
            planner = settled
            switch consequence {
            case .none: break
            case .renewIdentity: renew(identity)
            case .forgotten: forgetLocally()
            }
            publish()
        } catch {
            // The answer was not recorded, so the request will be repeated. The repetition is safe.
            pause(for: error)
        }
    }

    /// Pauses the uploads, because the record is not accessible.
    private func pause(for error: LiveActivitiesError) {
        planner.pause("\(error)", at: time.uptime(), jitter: time.random())
        publish()
    }

    /// Another secret is registered under this ID. Draws a new ID and a new secret, and uploads everything again.
    private func renew(_ refused: InstallationIdentity) {
        guard let kept = try? store.identity(insteadOf: refused) else { return }
        identity = kept
        try? update {
            $0.installation = kept.installationId
            $0.resetConfirmed()
        }
    }

    /// Forgets the installation on the phone, because the server has forgotten it.
    private func forgetLocally() {
        // Reset the record first. If the identity then stays, for example after a kill, the identity is harmless,
        // because the server does not know it.
        try? update {
            $0 = DeviceRecord()
            $0.isGone = true
        }
        try? store.removeIdentity()
        identity = nil
        planner = UploadPlanner()
    }

    /// Sleeps until the loop is woken, or until this time.
    private func rest(until: TimeInterval?) async {
        publish()
        for flush in flushes { flush.finish() }
        flushes = []
        let alarm = until.map { until in
            Task { [bell, time] in
                try await time.sleep(max(.zero, until - time.uptime()))
                bell.continuation.yield()
            }
        }
        for await _ in bell.stream { break }
        alarm?.cancel()
    }
}
