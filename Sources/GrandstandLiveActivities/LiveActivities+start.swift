internal import Foundation
internal import GrandstandClient

/// Starting activities, from the app's request to the activity on the screen.
extension LiveActivities {
    /// Shows an activity. If the system (iOS 18) supports channels and the event has one, the activity uses the event's
    /// channel. Otherwise the activity uses its own push token. The request is saved first, so a crash, a kill or a
    /// missing network loses no start. There is one activity for each event and type, however often this method is
    /// called. If the task of the caller is cancelled, the method returns `waiting` at once and the request stays;
    /// `withdraw` removes the request.
    ///
    /// - Throws: `LiveActivitiesError` if the activity will never be shown.
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
        // An earlier attempt for the same event and type may be in progress. The earlier and the new attempt result in
        // the same activity.
        let attempt = attempt(wanted)
        let (results, result) = AsyncStream.makeStream(of: Result<ShowResult, LiveActivitiesError>.self)
        Task { result.yield(await attempt.value) }
        for await result in results { return try result.get() }
        return .waiting
    }

    /// Seconds for which an event may be unknown to the server. After this time, the request to show an activity is
    /// given up.
    private static let longestUnknown: TimeInterval = 86_400

    /// Removes the request to show an activity. An activity that is already on the screen stays.
    public func withdraw(eventKey: String) throws(LiveActivitiesError) {
        try update { $0.wanted.removeAll { $0.eventKey == eventKey } }
    }

    /// A request that should be tried now.
    func dueStart() -> WantedStart? {
        guard condition?.liveActivitiesEnabled == true, courier.keyRefusal == nil else { return nil }
        let now = time.uptime()
        return record.wanted.first {
            (startBackoffs[$0.name]?.notBefore ?? now) <= now && attempts[$0.name] == nil && !isTooEarly($0)
        }
    }

    /// When the next request should be tried; `nil`: no request has such a time.
    var nextStart: TimeInterval? {
        guard condition?.liveActivitiesEnabled == true, courier.keyRefusal == nil else { return nil }
        return record.wanted.filter { !isTooEarly($0) }.compactMap { startBackoffs[$0.name]?.notBefore }.min()
    }

    /// Whether the start must wait for its date. Systems before iOS 26 cannot schedule an activity. On these systems,
    /// the start waits until the app is in the foreground after the date.
    private func isTooEarly(_ wanted: WantedStart) -> Bool {
        guard let condition, !condition.schedules, let startsAt = wanted.startsAt else { return false }
        return startsAt > time.now()
    }

    /// Tries once to show an activity, unless an attempt is already in progress.
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

    /// The activity, if it already exists. The app may have been killed after the activity was started and before it
    /// was recorded, or a push or another launch may have started the activity.
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

    /// Asks the server whether an event's updates arrive on a channel or by token, and for the newest content.
    ///
    /// - Parameter variant: `nil`: the variant that a push would start. To find this variant, an event with several
    ///   variants may need a second request.
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
            // The organiser may declare the event later, so the request stays for a day.
            if let since = wanted.since, time.now().timeIntervalSince(since) > Self.longestUnknown {
                return give(up: wanted, .noSuchEvent(wanted.eventKey))
            }
            return postpone(wanted, retryAfter: problem.retryAfter ?? 5)
        case .eventEnded: return give(up: wanted, .eventEnded(wanted.eventKey))
        case _ where problem.refusesKey:
            // The request stays, because the app's next version may have a valid key.
            _ = postpone(wanted, retryAfter: 3_600)
            return .failure(.keyRefused("\(problem)"))
        case _ where problem.isTemporary: return postpone(wanted, retryAfter: problem.retryAfter)
        default: return give(up: wanted, .refused("\(problem)"))
        }
    }

    private func begin(
        _ wanted: WantedStart, by delivery: ActivityDelivery, _ content: Data?, _ variant: String?
    ) async -> Result<ShowResult, LiveActivitiesError> {
        // A push or another launch may have started the activity during the lookup.
        if let there = await existing(wanted) { return note(there, of: wanted) }
        // The request may have been withdrawn in the meantime.
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

    /// Records an activity that exists, and removes its request, in one write.
    ///
    /// - Parameter variant: the variant of the audience that the activity was started for; `nil`: the variant is
    ///   unknown, or the audience has none.
    private func note(
        _ snapshot: ActivitySnapshot, of wanted: WantedStart, _ variant: String? = nil
    ) -> Result<ShowResult, LiveActivitiesError> {
        end(wanted) { record in
            record.see(snapshot)
            if let variant = variant ?? wanted.variant { record.activities[snapshot.id]?.variant = variant }
        }
        return .success(.shown(snapshot.id))
    }

    /// Removes a finished request. If the record is not accessible, the request stays and is tried again later. If the
    /// activity was already started, the later attempt finds the activity on the device.
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
    /// Identifies the event and the type. Neither the key of the event nor the name of the type contains a space.
    fileprivate var name: String { "\(eventKey) \(attributesType)" }
}
