internal import Foundation

/// From the wish for an activity to the activity.
extension LiveActivities {
    /// Shows an activity: on its event's channel where the system has channels (iOS 18) and the event has one, else with a
    /// token of its own. The wish is kept before anything else happens, so a crash, a kill or a dead network loses no
    /// start; one card is made for each event and type, however often this is called.
    ///
    /// - Throws: where it will not be shown later either.
    public func show(_ wanted: WantedStart) async throws(LiveActivitiesError) -> ShowResult {
        let isBack = try update { record throws(LiveActivitiesError) in
            record.wanted.removeAll { $0.isSame(as: wanted) }
            record.wanted.append(wanted)
            return record.comeBack()
        }
        if isBack { await look() }
        startBackoffs[wanted.name] = nil
        // Another attempt may be under way, with what was wanted before: it comes to the same card.
        return try await attempt(wanted).value.get()
    }

    /// Wants an activity no more; one that is there stays.
    public func withdraw(eventKey: String) throws(LiveActivitiesError) {
        try update { $0.wanted.removeAll { $0.eventKey == eventKey } }
    }

    /// A start that is worth a try now.
    func dueStart() -> WantedStart? {
        guard condition?.liveActivitiesEnabled == true, courier.keyRefusal == nil else { return nil }
        let now = time.now
        return record.wanted.first {
            (startBackoffs[$0.name]?.notBefore ?? now) <= now && attempts[$0.name] == nil && !isTooEarly($0)
        }
    }

    /// When the next one is.
    var nextStart: Duration? {
        guard condition?.liveActivitiesEnabled == true, courier.keyRefusal == nil else { return nil }
        return record.wanted.filter { !isTooEarly($0) }.compactMap { startBackoffs[$0.name]?.notBefore }.min()
    }

    /// Before iOS 26 nothing can be scheduled: it is tried when the app comes to the front after the date.
    private func isTooEarly(_ wanted: WantedStart) -> Bool {
        guard let condition, !condition.schedules, let startsAt = wanted.startsAt else { return false }
        return startsAt > time.date
    }

    /// Tries to show an activity, once.
    func attempt(_ wanted: WantedStart) -> Task<Result<ShowResult, LiveActivitiesError>, Never> {
        if let attempt = attempts[wanted.name] { return attempt }
        let attempt = Task { () -> Result<ShowResult, LiveActivitiesError> in
            let result = await self.tryOnce(wanted)
            self.attempts[wanted.name] = nil
            self.wake()
            return result
        }
        attempts[wanted.name] = attempt
        return attempt
    }

    /// The activity, where it is there already: the app may have been ended after the start and before it was noted, and a
    /// push or another launch may have been faster.
    private func existing(_ wanted: WantedStart) async -> ActivitySnapshot? {
        let condition = await host.condition()
        self.condition = condition
        return condition.activities.first { wanted.isOf($0) && $0.state.isLive }
    }

    private func tryOnce(_ wanted: WantedStart) async -> Result<ShowResult, LiveActivitiesError> {
        if let there = await existing(wanted) { return note(there, of: wanted) }
        guard let condition, condition.liveActivitiesEnabled else { return give(up: wanted, .disabled) }
        guard !isTooEarly(wanted) else { return .success(.waiting) }
        switch await server.lookup(wanted.eventKey) {
        case .found(let channelID, let content):
            let delivery = channelID.flatMap { condition.hasChannels ? ActivityDelivery.channel($0) : nil } ?? .token
            return await begin(wanted, by: delivery, content)
        case .pending(let seconds):
            return postpone(wanted, retryAfter: seconds)
        case .unanswered:
            return postpone(wanted)
        case .notFound:
            return give(up: wanted, .noSuchEvent(wanted.eventKey))
        case .ended:
            return give(up: wanted, .eventEnded(wanted.eventKey))
        case .refused(let refusal) where refusal.isOfKey:
            // Kept: the next version of the app may bring a key that is valid.
            startBackoffs[wanted.name, default: Backoff()].fail(at: time.now, retryAfter: 3_600, jitter: time.jitter())
            return .failure(.keyRefused(refusal.detail))
        case .refused(let refusal) where refusal.isPassing:
            return postpone(wanted, retryAfter: refusal.retryAfter)
        case .refused(let refusal):
            return give(up: wanted, .refused(refusal.detail))
        }
    }

    private func begin(
        _ wanted: WantedStart, by delivery: ActivityDelivery, _ content: Data?
    ) async -> Result<ShowResult, LiveActivitiesError> {
        // The lookup may have taken long.
        if let there = await existing(wanted) { return note(there, of: wanted) }
        // Nor is it shown when it was withdrawn meanwhile.
        guard !Task.isCancelled, record.wanted.contains(where: { $0.isSame(as: wanted) }) else {
            return .success(.waiting)
        }
        do {
            var snapshot = try await host.start(wanted, by: delivery, contentState: content)
            if case .channel(let id) = delivery { snapshot.channelID = id }
            return note(snapshot, of: wanted)
        } catch StartRefusal.notInFront {
            return postpone(wanted)
        } catch StartRefusal.disabled {
            return give(up: wanted, .disabled)
        } catch StartRefusal.impossible(let detail) {
            return give(up: wanted, .impossible(detail))
        } catch {
            return give(up: wanted, .impossible("\(error)"))
        }
    }

    /// The activity is there: it is reported, and wanted no more, in one write.
    private func note(_ snapshot: ActivitySnapshot, of wanted: WantedStart) -> Result<ShowResult, LiveActivitiesError> {
        startBackoffs[wanted.name] = nil
        // If this cannot be written, the next launch finds the activity on the device.
        try? update { record in
            record.see(snapshot)
            record.wanted.removeAll { $0.isSame(as: wanted) }
        }
        return .success(.shown(snapshot.id))
    }

    private func postpone(_ wanted: WantedStart, retryAfter: Int? = nil) -> Result<ShowResult, LiveActivitiesError> {
        startBackoffs[wanted.name, default: Backoff()].fail(
            at: time.now, retryAfter: retryAfter, jitter: time.jitter())
        publish()
        return .success(.waiting)
    }

    private func give(
        up wanted: WantedStart, _ error: LiveActivitiesError
    ) -> Result<ShowResult, LiveActivitiesError> {
        startBackoffs[wanted.name] = nil
        try? update { $0.wanted.removeAll { $0.isSame(as: wanted) } }
        return .failure(error)
    }
}

extension WantedStart {
    /// One for each event and type; neither holds a space.
    fileprivate var name: String { "\(eventKey) \(attributesType)" }
}
