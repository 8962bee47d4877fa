internal import APNsWire
package import FoundationEssentials
package import GrandstandContract
package import JSON

extension Contract.StateDraft {
    /// Whether the event ends with this state.
    package var isFinal: Bool { `final` ?? false }
}

/// Decides what a reported state sends. Pure: it depends on the newest accepted contents, the last state, the alerts that
/// wait, the content types and the last sequence.
package struct StateDecision: Sendable {
    /// An audience that the state is for.
    package struct TargetAudience: Sendable {
        package var audience: Audience.ID
        package var type: ContentType?
        /// The audience's newest accepted content; `nil`: none, or Apple did not take it.
        package var newest: [UInt8]?
        /// The audience's last state; `nil`: its newest accepted content counts as the last state.
        package var lastState: [UInt8]?
        package var waitingAlerts: [Ring] = []
        /// Whether the audience names a content type that its app does not have. `DeliveryPlan.checkContents` warns
        /// about it.
        package var isTypeUnknown: Bool

        package init(audience: Audience.ID, type: ContentType?, newest: [UInt8]?, isTypeUnknown: Bool = false) {
            self.audience = audience
            self.type = type
            self.newest = newest
            self.isTypeUnknown = isTypeUnknown
        }
    }

    /// An alert of an earlier state that APNs has not accepted yet: its broadcast, the index in `rings` of the rule that
    /// matched, the content before the state, and the state.
    package typealias Ring = (broadcast: UUID, rule: Int, before: [UInt8], state: [UInt8])

    /// The progress of an event's states.
    package struct Progress: Sendable, Hashable {
        package var sequence: Int?
        /// Sequences are compared only within an epoch. 0: no state had one.
        package var epoch: Int
        /// When the newest message with the outcome `quiet` is or was sent.
        package var quietAt: Date?

        package init(sequence: Int? = nil, epoch: Int = 0, quietAt: Date? = nil) {
            self.sequence = sequence
            self.epoch = epoch
            self.quietAt = quietAt
        }
    }

    package let outcome: Contract.StateOutcome
    package let rule: Int?
    /// The number of audiences that the state is for.
    package let audienceCount: Int
    /// `nil`: nothing is sent.
    package let request: Contract.BroadcastDraft?
    /// The earliest time of a quiet message; `nil` for other messages.
    package let notBefore: Date?
    /// The progress after this state.
    package let stateProgress: Progress
    /// The broadcasts whose alerts must not ring any more, because this state undid what they say.
    package let muted: Set<UUID>
    /// Warnings for the answer: about apps that have no content type, and about an alert without text.
    package let warnings: [String]

    /// - Parameters:
    ///   - targets: the audiences that the state is for, in the order of the event.
    ///   - isOver: whether all of them are over.
    /// - Throws: `stale-state` if the sequence is too low, or was used for another state.
    package init(
        _ report: Contract.StateDraft, to targets: [TargetAudience], isOver: Bool, progress: Progress, now: Date
    ) throws(Problem) {
        audienceCount = targets.count
        let untyped = Set(targets.filter { $0.type == nil && !$0.isTypeUnknown }.map(\.audience.bundleID)).sorted().map
        {
            "\($0) has no content type, so the content is not checked, and no change sends an alert. Declare one with PUT "
                + "/v1/apps/\($0)/contents/…."
        }
        let own = (report.byVariant ?? [:]).compactMapValues(\.contentState)
        let general = try report.contentState.tree()
        var ofVariants: [String: JSONValue] = [:]
        for (name, content) in own { ofVariants[name] = try content.tree() }
        let changes = targets.map { target in
            let old = target.newest.flatMap { try? JSONValue(parsing: $0) }
            let lastState = target.lastState.flatMap { try? JSONValue(parsing: $0) } ?? old
            let new = target.audience.variant.flatMap { ofVariants[$0.rawValue] } ?? general
            let change = Self.change(from: old, after: lastState, to: new, by: target.type)
            return (target: target, lastState: lastState, new: new, change: change)
        }
        let news = changes.filter { $0.change.outcome != .unchanged }
        let ends = report.isFinal && !isOver
        let epoch = report.sequenceEpoch ?? progress.epoch
        if epoch < progress.epoch {
            throw Self.stale("the sequenceEpoch \(progress.epoch)", has: epoch, progress)
        }
        if epoch == progress.epoch, let sequence = report.sequence, let last = progress.sequence,
            sequence < last || sequence == last && !changes.allSatisfy({ $0.lastState?.isSame(as: $0.new) ?? true })
        {
            throw Self.stale("the sequence \(last)", has: sequence, progress)
        }
        var after = progress
        after.sequence = report.sequence ?? (epoch == progress.epoch ? progress.sequence : nil)
        after.epoch = epoch
        muted = Set(changes.flatMap { Self.alertsUndone($0.target, by: $0.new) })
        guard ends || !news.isEmpty else {
            (outcome, rule, request, notBefore, self.stateProgress, warnings) = (.unchanged, nil, nil, nil, after, [])
            return
        }
        let ringing = news.first { $0.change.outcome == .rings }
        var (alert, alerts): ([UInt8]?, [String: [UInt8]]) = (nil, [:])
        if let ringing, let old = ringing.lastState, let place = ringing.change.rule,
            let rule = ringing.target.type?.rules.rings?[place]
        {
            alert = rule.alert(for: nil, from: old, to: general)
            for (target, lastState, new, _) in changes {
                guard let variant = target.audience.variant,
                    let ownAlert = rule.alert(for: variant, from: lastState ?? old, to: new), ownAlert != alert
                else { continue }
                alerts[variant.rawValue] = ownAlert
            }
        }
        let rings = alert != nil || !alerts.isEmpty
        warnings = untyped + (ringing?.change.rule.map { alert == nil ? [Self.noTextWarning($0)] : [] } ?? [])
        let strongest: Contract.StateOutcome =
            rings ? .rings : news.contains { [.rings, .update].contains($0.change.outcome) } ? .update : .quiet
        outcome = ends ? .end : strongest
        rule = rings ? ringing?.change.rule : nil
        var byVariant = own.mapValues { Contract.VariantContent(contentState: $0) }
        for (variant, alert) in alerts { byVariant[variant, default: .init()].alert = RawJSON(unchecked: alert) }
        let priority: APNsPriority? = outcome == .end ? nil : outcome == .quiet ? .powerAware : .immediate
        request = Contract.BroadcastDraft(
            event: ends ? .end : .update, contentState: report.contentState, alert: alert.map(RawJSON.init(unchecked:)),
            byVariant: byVariant,
            audiences: ends || news.count == changes.count
                ? report.audiences : news.map { .only($0.target.audience) },
            priority: priority?.rawValue)
        if outcome == .quiet {
            let rules = news.first { $0.target.type != nil }?.target.type?.rules ?? .init()
            after.quietAt = rules.nextQuietAt(after: progress.quietAt, at: now)
            notBefore = after.quietAt
        } else {
            notBefore = nil
        }
        self.stateProgress = after
    }

    /// The difference between a state and the newest accepted content of one audience. Whether something is sent depends
    /// on that content. Whether it rings depends on the last state, because a message that somebody composed in between
    /// does not say what happened.
    ///
    /// - Parameters:
    ///   - old: the newest accepted content; `nil`: there is none, or Apple did not take it.
    ///   - lastState: the last state; `nil`: the newest accepted content counts as the last state.
    ///   - type: `nil`: every difference is an update.
    /// - Returns: the outcome, and the index in `rings` of the rule that matched.
    package static func change(
        from old: JSONValue?, after lastState: JSONValue? = nil, to new: JSONValue, by type: ContentType?
    ) -> (outcome: Contract.StateOutcome, rule: Int?) {
        if let old, old.source.elementsEqual(new.source) || old.isSame(as: new) { return (.unchanged, nil) }
        if let before = lastState ?? old,
            let ringing = type?.rules.rings?.firstIndex(where: { $0.when.holds(from: before, to: new) })
        {
            return (.rings, ringing)
        }
        let quiet = (type?.rules.quiet ?? []).compactMap(JSONPointer.init)
        let isQuiet = !quiet.isEmpty && old?.isSame(as: new, ignoring: quiet) ?? false
        return (isQuiet ? .quiet : .update, nil)
    }

    /// The broadcasts whose alerts wait for an audience and say what the state `new` undid.
    private static func alertsUndone(_ target: TargetAudience, by new: JSONValue) -> [UUID] {
        target.waitingAlerts.compactMap { ring in
            guard let rules = target.type?.rules.rings, rules.indices.contains(ring.rule),
                let before = try? JSONValue(parsing: ring.before), let state = try? JSONValue(parsing: ring.state),
                rules[ring.rule].when.isUndone(from: before, to: state, by: new)
            else { return nil }
            return ring.broadcast
        }
    }

    private static func noTextWarning(_ rule: Int) -> String {
        "The alert of /rules/rings/\(rule) has an empty title with this state (or no title, and an empty body), so the "
            + "state is sent without it. Check the members that it names in braces."
    }

    /// - Parameters:
    ///   - last: the value that was received before, with its name.
    ///   - value: the value of the refused state.
    private static func stale(_ last: String, has value: Int, _ progress: Progress) -> Problem {
        Problem(
            .staleState,
            "Another state with \(last) was received before, and this one has \(value). Send the newest state, and give each "
                + "state a higher sequence. If the feed's sequence begins anew, send a sequenceEpoch above \(progress.epoch) "
                + "with its states, for example the Unix time at which the feed started."
        ) { $0.sequence = progress.sequence }
    }
}
