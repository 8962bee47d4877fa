internal import Foundation
internal import GrandstandClient

/// From the wish for an activity to the activity.
extension LiveActivities {
    /// Shows an activity: on its event's channel where the system has channels (iOS 18) and the event has one, else with a
    /// token of its own. The wish is kept before anything else happens, so a crash, a kill or a dead network loses no
    /// start; one card is made for each event and type, however often this is called. A caller that is cancelled gets
    /// `waiting` at once, and the wish stays: `withdraw` takes it back.
    ///
    /// - Throws: where it will not be shown later either.
    public func show(_ wanted: WantedStart) async throws(LiveActivitiesError) -> ShowResult {
        var wanted = wanted
        let isBack = try update { record throws(LiveActivitiesError) in
            let earlier = record.wanted.first { $0.isSame(as: wanted) }
            wanted.since = earlier?.since ?? time.now()
            wanted.replaces = earlier?.replaces
            record.wanted.removeAll { $0.isSame(as: wanted) }
            record.wanted.append(wanted)
            return record.comeBack()
        }
        if isBack { await look() }
        startBackoffs[wanted.name] = nil
        // Another attempt may be under way, with what was wanted before: it comes to the same card.
        let attempt = attempt(wanted)
        let (results, result) = AsyncStream.makeStream(of: Result<ShowResult, LiveActivitiesError>.self)
        Task { result.yield(await attempt.value) }
        for await result in results { return try result.get() }
        return .waiting
    }

    /// For so long an event may be unknown to the server, in seconds.
    private static let longestUnknown: TimeInterval = 86_400

    /// Wants an activity no more; one that is there stays.
    public func withdraw(eventKey: String) throws(LiveActivitiesError) {
        try update { $0.wanted.removeAll { $0.eventKey == eventKey } }
    }

    /// A start that is worth a try now.
    func dueStart() -> WantedStart? {
        guard condition?.liveActivitiesEnabled == true, courier.keyRefusal == nil else { return nil }
        let now = time.uptime()
        return record.wanted.first {
            (startBackoffs[$0.name]?.notBefore ?? now) <= now && attempts[$0.name] == nil && !isTooEarly($0)
        }
    }

    /// When the next one is.
    var nextStart: TimeInterval? {
        guard condition?.liveActivitiesEnabled == true, courier.keyRefusal == nil else { return nil }
        return record.wanted.filter { !isTooEarly($0) }.compactMap { startBackoffs[$0.name]?.notBefore }.min()
    }

    /// Before iOS 26 nothing can be scheduled: it is tried when the app comes to the front after the date.
    private func isTooEarly(_ wanted: WantedStart) -> Bool {
        guard let condition, !condition.schedules, let startsAt = wanted.startsAt else { return false }
        return startsAt > time.now()
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
        switch await find(wanted.eventKey, variant: wanted.variant) {
        case .found(let channelID, let content, let variant, _):
            let delivery = channelID.flatMap { condition.hasChannels ? ActivityDelivery.channel($0) : nil } ?? .token
            return await begin(wanted, by: delivery, content, variant)
        case .unanswered: return postpone(wanted)
        case .refused(let problem): return refuse(wanted, problem)
        }
    }

    /// Asks the server where an event's updates come from.
    ///
    /// - Parameter variant: `nil`: the one that a push would start on. Only an event with several needs a second question.
    func find(_ eventKey: String, variant: String?) async -> LookupOutcome {
        let found = await server.lookup(eventKey, variant: variant)
        guard variant == nil, case .found(_, _, let first, let variants) = found, !variants.isEmpty else {
            return found
        }
        let all = (first == nil ? [nil] : []) + variants.map(Optional.some)
        let choice = VariantChoice(all).index(named: record.facts.variant, locale: record.facts.locale)
        guard let chosen = choice.flatMap({ all[$0] }), chosen != first else { return found }
        return await server.lookup(eventKey, variant: chosen)
    }

    private func refuse(_ wanted: WantedStart, _ problem: ServerProblem) -> Result<ShowResult, LiveActivitiesError> {
        switch problem.kind {
        case .channelPending: return postpone(wanted, retryAfter: problem.retryAfter ?? 5)
        case .eventNotFound:
            // The organiser may declare it after people asked for it.
            if let since = wanted.since, time.now().timeIntervalSince(since) > Self.longestUnknown {
                return give(up: wanted, .noSuchEvent(wanted.eventKey))
            }
            return postpone(wanted, retryAfter: problem.retryAfter ?? 5)
        case .eventEnded: return give(up: wanted, .eventEnded(wanted.eventKey))
        case _ where problem.isOfKey:
            // Kept: the next version of the app may bring a key that is valid.
            _ = postpone(wanted, retryAfter: 3_600)
            return .failure(.keyRefused("\(problem)"))
        case _ where problem.isPassing: return postpone(wanted, retryAfter: problem.retryAfter)
        default: return give(up: wanted, .refused("\(problem)"))
        }
    }

    private func begin(
        _ wanted: WantedStart, by delivery: ActivityDelivery, _ content: Data?, _ variant: String?
    ) async -> Result<ShowResult, LiveActivitiesError> {
        // The lookup may have taken long.
        if let there = await existing(wanted) { return note(there, of: wanted) }
        // Nor is it shown when it was withdrawn meanwhile.
        guard !Task.isCancelled, record.wanted.contains(where: { $0.isSame(as: wanted) }) else {
            return .success(.waiting)
        }
        do {
            if let stale = wanted.replaces { await host.end(stale, contentState: nil, atOnce: true) }
            var snapshot = try await host.start(wanted, by: delivery, contentState: content)
            if case .channel(let id) = delivery { snapshot.channelID = id }
            return note(snapshot, of: wanted, variant)
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
    ///
    /// - Parameter variant: of the audience it was started on; `nil`: that is not known, or it has none.
    private func note(
        _ snapshot: ActivitySnapshot, of wanted: WantedStart, _ variant: String? = nil
    ) -> Result<ShowResult, LiveActivitiesError> {
        end(wanted) { record in
            record.see(snapshot)
            if let variant = variant ?? wanted.variant { record.activities[snapshot.id]?.variant = variant }
        }
        return .success(.shown(snapshot.id))
    }

    /// The wish is over. Where that cannot be written it is looked at again later: the activity is on the device then.
    private func end(_ wanted: WantedStart, _ change: (inout DeviceRecord) -> Void = { _ in }) {
        do {
            try update { record in
                change(&record)
                record.wanted.removeAll { $0.isSame(as: wanted) }
            }
            startBackoffs[wanted.name] = nil
        } catch {
            _ = postpone(wanted)
        }
    }

    private func postpone(_ wanted: WantedStart, retryAfter: Int? = nil) -> Result<ShowResult, LiveActivitiesError> {
        startBackoffs[wanted.name, default: Backoff()].fail(
            at: time.uptime(), retryAfter: retryAfter, jitter: time.chance())
        publish()
        return .success(.waiting)
    }

    private func give(
        up wanted: WantedStart, _ error: LiveActivitiesError
    ) -> Result<ShowResult, LiveActivitiesError> {
        end(wanted)
        return .failure(error)
    }
}

extension WantedStart {
    /// One for each event and type; neither holds a space.
    fileprivate var name: String { "\(eventKey) \(attributesType)" }
}
