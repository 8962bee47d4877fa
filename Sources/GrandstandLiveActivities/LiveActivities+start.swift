internal import Foundation
internal import GrandstandClient

/// Starting activities, from the app's request to the activity on the screen.
extension LiveActivities {
    typealias StartResult = Result<ShowResult, LiveActivitiesError>

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
            let earlier = record.wanted[wanted.startKey]
            wanted.since = earlier?.since ?? time.now()
            wanted.replaces = earlier?.replaces
            record.wanted[wanted.startKey] = wanted
            return record.undoForget()
        }
        if isBack { await readAndRetry() }
        startBackoffs[wanted.startKey] = nil
        // An earlier attempt for the same event and type may be in progress. The earlier and the new attempt result in
        // the same activity.
        let (results, result) = AsyncStream.makeStream(of: StartResult.self)
        Task { [attempt = attempt(wanted)] in result.yield(await attempt.value) }
        return try await results.first { _ in true }?.get() ?? .waiting
    }

    /// Seconds for which an event may be unknown to the server. After this time, the request to show an activity is
    /// given up.
    private static let longestUnknown: TimeInterval = 86_400

    /// Removes the request to show an activity. An activity that is already on the screen stays.
    public func withdraw(eventKey: String) throws(LiveActivitiesError) {
        try update { record in record.wanted = record.wanted.filter { $0.value.eventKey != eventKey } }
    }

    /// The request to try next, and when; `nil`: no request has such a time.
    var nextStart: (wanted: WantedStart, at: TimeInterval)? {
        guard condition?.allowsActivities == true, planner.keyRefusal == nil else { return nil }
        return record.wanted.values.filter { attempts[$0.startKey] == nil && !isTooEarly($0) }
            .map { ($0, startBackoffs[$0.startKey]?.notBefore ?? 0) }.min { $0.at < $1.at }
    }

    /// Whether the start must wait for its date. Systems before iOS 26 cannot schedule an activity. On these systems,
    /// the start waits until the app is in the foreground after the date.
    private func isTooEarly(_ wanted: WantedStart) -> Bool {
        guard let condition, !condition.canSchedule, let startsAt = wanted.startsAt else { return false }
        return startsAt > time.now()
    }

    /// Tries once to show an activity, unless an attempt is already in progress.
    func attempt(_ wanted: WantedStart) -> Task<StartResult, Never> {
        if let attempt = attempts[wanted.startKey] { return attempt }
        let attempt = Task { () -> StartResult in
            let result = await self.tryOnce(wanted)
            self.attempts[wanted.startKey] = nil
            self.wake()
            return result
        }
        attempts[wanted.startKey] = attempt
        return attempt
    }

    /// The activity, if it already exists. The app may have been killed after the activity was started and before it
    /// was recorded, or a push or another launch may have started the activity.
    private func findOnHost(_ wanted: WantedStart) async -> DeviceActivity? {
        condition = await host.condition()
        return condition?.activities.first {
            $0.startKey == wanted.startKey && $0.id != wanted.replaces && $0.state.isLive
        }
    }

    private func tryOnce(_ wanted: WantedStart) async -> StartResult {
        if let there = await findOnHost(wanted) { return note(there, of: wanted) }
        guard let condition, condition.allowsActivities else { return give(up: wanted, .disabled) }
        guard !isTooEarly(wanted) else { return .success(.waiting) }
        do {
            var found = try await lookUp(wanted.eventKey, variant: wanted.variant)
            if !condition.supportsChannels { found.channelId = nil }
            return await begin(wanted, found)
        } catch let problem as ServerProblem {
            return onRefusal(wanted, problem)
        } catch {
            return postpone(wanted)
        }
    }

    /// Asks the server whether an event's updates arrive on a channel or by token, and for the newest content.
    ///
    /// - Parameter variant: `nil`: the variant that a push would start. To find this variant, an event with several
    ///   variants may need a second request.
    func lookUp(_ eventKey: String, variant: String?) async throws -> Lookup {
        let found = try await server.lookup(eventKey, variant: variant)
        guard variant == nil, let variants = found.variants, !variants.isEmpty else { return found }
        let all = (found.variant == nil ? [nil] : []) + variants.map(Optional.some)
        let choice = VariantChoice(all).index(named: record.facts.variant, locale: record.facts.locale)
        guard let chosen = choice.flatMap({ all[$0] }), chosen != found.variant else { return found }
        return try await server.lookup(eventKey, variant: chosen)
    }

    private func onRefusal(_ wanted: WantedStart, _ problem: ServerProblem) -> StartResult {
        switch problem.kind {
        case .eventNotFound where time.now().timeIntervalSince(wanted.since ?? .distantFuture) > Self.longestUnknown:
            return give(up: wanted, .noSuchEvent(wanted.eventKey))
        // The organiser may declare the event later, so the request stays for a day.
        case .channelPending, .eventNotFound: return postpone(wanted, retryAfter: problem.retryAfter ?? 5)
        case .eventEnded: return give(up: wanted, .eventEnded(wanted.eventKey))
        case _ where problem.refusesKey:
            // The request stays, because the app's next version may have a valid key.
            _ = postpone(wanted, retryAfter: 3_600)
            return .failure(.keyRefused("\(problem)"))
        case _ where problem.isTemporary: return postpone(wanted, retryAfter: problem.retryAfter)
        default: return give(up: wanted, .refused("\(problem)"))
        }
    }

    private func begin(_ wanted: WantedStart, _ found: Lookup) async -> StartResult {
        // A push or another launch may have started the activity during the lookup.
        if let there = await findOnHost(wanted) { return note(there, of: wanted) }
        // The request may have been withdrawn in the meantime.
        guard !Task.isCancelled, record.wanted[wanted.startKey] != nil else { return .success(.waiting) }
        do {
            if let stale = wanted.replaces { await host.end(stale, contentState: nil, atOnce: true) }
            guard var activity = try await host.start(wanted, as: found) else { return postpone(wanted) }
            activity.channelID = found.channelId
            return note(activity, of: wanted, found.variant)
        } catch {
            return give(up: wanted, error as? LiveActivitiesError ?? .impossible("\(error)"))
        }
    }

    /// Records an activity that exists, and removes its request, in one write.
    ///
    /// - Parameter variant: the variant of the audience that the activity was started for; `nil`: the variant is
    ///   unknown, or the audience has none.
    private func note(_ activity: DeviceActivity, of wanted: WantedStart, _ variant: String? = nil) -> StartResult {
        var activity = activity
        activity.variant = variant ?? wanted.variant
        finish(wanted) { $0.merge(activity) }
        return .success(.shown(activity.id))
    }

    /// Removes a finished request. If the record is not accessible, the request stays and is tried again later. If the
    /// activity was already started, the later attempt finds the activity on the device.
    private func finish(_ wanted: WantedStart, _ change: (inout DeviceRecord) -> Void = { _ in }) {
        do {
            try update { record in
                change(&record)
                record.wanted[wanted.startKey] = nil
            }
            startBackoffs[wanted.startKey] = nil
        } catch {
            _ = postpone(wanted)
        }
    }

    private func postpone(_ wanted: WantedStart, retryAfter: Int? = nil) -> StartResult {
        startBackoffs[wanted.startKey, default: Backoff()].fail(
            at: time.uptime(), retryAfter: retryAfter, jitter: time.random())
        publish()
        return .success(.waiting)
    }

    private func give(up wanted: WantedStart, _ error: LiveActivitiesError) -> StartResult {
        finish(wanted)
        return .failure(error)
    }
}
