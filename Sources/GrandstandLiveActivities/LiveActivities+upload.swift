internal import Foundation
internal import GrandstandClient

/// The upload loop: it does one thing at a time, then sleeps until something changes or is due.
extension LiveActivities {
    /// Wakes the loop, because there may be something to do.
    func wake() {
        isWoken = true
        wakeUp?.resume()
        wakeUp = nil
    }

    /// Reads the system's state and records it. Then ends the pauses between attempts, except the pauses that the
    /// server asked for.
    func look() async {
        await observe()
        lockBackoff.hurry()
        courier.hurry(
            at: time.uptime(), repeatAfter: record.repetition?.delay(at: time.now(), jitter: time.chance()))
        for key in startBackoffs.keys { startBackoffs[key]?.hurry() }
        wake()
    }

    /// Reads the system's state and records it. Only one reading runs at a time, so that an older state never replaces
    /// a newer one.
    private func observe() async {
        let look = Task { [looking] in
            await looking?.value
            await self.observeOnce()
        }
        looking = look
        await look.value
    }

    private func observeOnce() async {
        let condition = await host.condition()
        self.condition = condition
        isUnseen = false
        var replaced: [String] = []
        keep { record in
            replaced = condition.activities.flatMap { record.cards(replacedBy: $0) }
            record.changeFacts { facts in
                facts.systemVersion = condition.systemVersion
                facts.appVersion = condition.appVersion
                facts.locale = condition.locale
                facts.timeZone = condition.timeZone
                facts.liveActivitiesEnabled = condition.liveActivitiesEnabled
                facts.frequentPushesEnabled = condition.frequentPushesEnabled
                // Remove tokens of types that the app no longer has. Keep known tokens that the system has not provided
                // again yet.
                facts.startTokens = facts.startTokens.filter { condition.types.contains($0.key) }
                    .merging(condition.startTokens) { $1 }
            }
            record.see(all: condition.activities, of: condition.types)
            record.clearDoubts()
        }
        await end(replaced)
    }

    /// Ends activities for which a newer activity of the same event exists, so that people see one activity of an
    /// event.
    private func end(_ cards: [String]) async {
        for card in cards { await host.end(card, contentState: nil, atOnce: true) }
    }

    /// Records what the system said. If the record is locked, for example before the first unlock, the system is read
    /// again as soon as the record is accessible.
    private func keep(_ change: (inout DeviceRecord) -> Void) {
        do { try update { change(&$0) } } catch { isUnseen = true }
    }

    /// Handles a change on the device, and records what must be uploaded.
    func take(_ event: HostEvent) {
        switch event {
        case .cameToFront:
            Task {
                await look()
                await heal()
            }
            return
        case .permissionsChanged:
            // Read the state again, because the event may be older than the last reading.
            Task { await look() }
            return
        case .startToken(let type, let token):
            keep { $0.changeFacts { $0.startTokens[type] = token } }
        case .activity(let snapshot):
            var replaced: [String] = []
            keep { record in
                // Find the replaced activities before `snapshot` is recorded.
                replaced = record.cards(replacedBy: snapshot)
                record.see(snapshot)
            }
            Task { [replaced] in await end(replaced) }
        }
        wake()
    }

    /// Does the next piece of work, or waits until there is work.
    func step() async {
        isWoken = false
        // A forgotten installation needs no identity until people follow or show something again.
        guard !record.isGone else { return await rest(until: nil) }
        guard let credential = await identify() else { return await rest(until: lockBackoff.notBefore) }
        if let wanted = dueStart() {
            _ = await attempt(wanted).value
            return
        }
        switch courier.next(record, at: time.uptime()) {
        case .send(let request):
            // Record the request before it is sent. Otherwise the app would not know of the request after a kill.
            do { try update { courier.willSend(request, &$0) } } catch { return pause(for: error) }
            let outcome = await server.perform(request, as: credential)
            settle(request, outcome, by: credential)
        case .wait(let until):
            await rest(until: min(until, nextStart ?? until))
        case .idle:
            await rest(until: [nextStart, courier.repetition(of: record)].compactMap(\.self).min())
        }
    }

    /// Returns the identity of this installation, and creates it the first time. If the record comes from another
    /// phone, its tokens were dropped; if the record was locked, it lacks the latest changes. In both cases, the
    /// system's state is first read again and recorded.
    ///
    /// - Returns: `nil` if the keychain or the record cannot be read now.
    private func identify() async -> InstallationCredential? {
        if let credential, !isUnseen {
            credentialLock = nil
            return credential
        }
        guard lockBackoff.notBefore <= time.uptime() else { return nil }
        do {
            let kept = try credential ?? credentials.load() ?? credentials.keep(.draw(), insteadOf: nil)
            if try update({ $0.move(to: kept.installation) }) { isUnseen = true }
            credential = kept
            credentialLock = nil
            if isUnseen { await observe() }
            guard !isUnseen else { throw LiveActivitiesError.locked(recordLock ?? "") }
            lockBackoff.succeed()
            return kept
        } catch {
            credentialLock = "\(error)"
            lockBackoff.fail(at: time.uptime(), jitter: time.chance())
            publish()
            return nil
        }
    }

    private func settle(
        _ request: DeviceRequest, _ outcome: DeviceOutcome, by credential: InstallationCredential
    ) {
        let now = time.uptime()
        let jitter = time.chance()
        var courier = courier
        let consequence: Courier.Consequence
        do {
            consequence = try update { record in
                if case .register = request, case .accepted = outcome {
                    record.repetition = Repetition(registered: time.now(), chance: jitter)
                }
                return courier.settle(request, outcome, &record, at: now, jitter: jitter)
            }
        } catch {
            // The answer was not recorded, so the request will be repeated. The repetition is safe.
            return pause(for: error)
        }
        self.courier = courier
        switch consequence {
        case .none: break
        case .renewIdentity: renew(credential)
        case .forgotten: vanish()
        }
        publish()
    }

    /// Pauses the uploads, because the record is not accessible.
    private func pause(for error: LiveActivitiesError) {
        courier.pause("\(error)", at: time.uptime(), jitter: time.chance())
        publish()
    }

    /// Another secret is registered under this ID. Draws a new ID and a new secret, and uploads everything again.
    private func renew(_ refused: InstallationCredential) {
        guard let kept = try? credentials.keep(.draw(), insteadOf: refused) else { return }
        credential = kept
        try? update { $0.rename(to: kept.installation) }
    }

    /// Forgets the installation on the phone, because the server has forgotten it.
    private func vanish() {
        // Reset the record first. If the credential then stays, for example after a kill, the credential is harmless,
        // because the server does not know it.
        try? update {
            $0 = DeviceRecord()
            $0.isGone = true
        }
        try? credentials.remove()
        credential = nil
        courier = Courier()
    }

    /// Sleeps until the loop is woken, or until this time.
    private func rest(until: TimeInterval?) async {
        publish()
        for flush in flushes { flush.finish() }
        flushes = []
        guard !isWoken, !Task.isCancelled else { return }
        let alarm = until.map { until in
            Task { [weak self, time] in
                try? await time.sleep(max(.zero, until - time.uptime()))
                if !Task.isCancelled { await self?.wake() }
            }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if isWoken || Task.isCancelled { continuation.resume() } else { wakeUp = continuation }
            }
        } onCancel: {
            Task { await self.wake() }
        }
        alarm?.cancel()
    }
}
