internal import APNsWire
package import FoundationEssentials
package import GrandstandContract
package import JSON

/// The whole state of an event, as a feed reports it.
package struct StateReport: Sendable {
    /// A JSON object. Each value of `byVariant` is a JSON object, too.
    package var contentState: JSONValue
    package var byVariant: [Variant: JSONValue] = [:]
    /// Rises with each state of the feed. `nil`: states count in the order of their arrival.
    package var sequence: Int?
    /// Rises each time the feed's sequence begins anew. `nil`: the epoch of the last state.
    package var epoch: Int?
    package var isFinal = false
    /// `nil`: all audiences of the event.
    package var audiences: [AudienceSelector]?

    func content(for variant: Variant?) -> JSONValue { variant.flatMap { byVariant[$0] } ?? contentState }
}

extension StateReport {
    /// Reads the body of `PUT /v1/events/{key}/state`. The bytes of contents stay as the caller wrote them.
    package init(body: JSONValue) throws(Problem) {
        let draft = try Contract.StateDraft.read(body)
        var byVariant: [Variant: JSONValue] = [:]
        for (name, content) in draft.byVariant ?? [:] {
            byVariant[try Variant(allowed: name)] = try content.contentState?.tree()
        }
        self.init(
            contentState: try draft.contentState.tree(), byVariant: byVariant, sequence: draft.sequence,
            epoch: draft.sequenceEpoch, isFinal: draft.`final` ?? false,
            audiences: try [AudienceSelector](draft.audiences))
    }
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
        package var told: [UInt8]?
        package var rings: [Ring] = []
        /// Whether the audience names a content type that its app does not have. `DeliveryPlan.check` warns about it.
        package var isMisnamed: Bool

        package init(audience: Audience.ID, type: ContentType?, newest: [UInt8]?, isMisnamed: Bool = false) {
            self.audience = audience
            self.type = type
            self.newest = newest
            self.isMisnamed = isMisnamed
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
    package let audiences: Int
    /// `nil`: nothing is sent.
    package let request: BroadcastRequest?
    /// The earliest time of a quiet message; `nil` for other messages.
    package let notBefore: Date?
    /// The progress after this state.
    package let progress: Progress
    /// The broadcasts whose alerts must not ring any more, because this state undid what they say.
    package let undone: Set<UUID>
    /// Warnings for the answer: about apps that have no content type, and about an alert without text.
    package let warnings: [String]

    /// - Parameters:
    ///   - targets: the audiences that the state is for, in the order of the event.
    ///   - isOver: whether all of them are over.
    /// - Throws: `stale-state` if the sequence is too low, or was used for another state.
    package init(
        _ report: StateReport, to targets: [TargetAudience], isOver: Bool, progress: Progress, now: Date
    ) throws(Problem) {
        audiences = targets.count
        let untyped = Set(targets.filter { $0.type == nil && !$0.isMisnamed }.map(\.audience.bundleID)).sorted().map {
            "\($0) has no content type, so the content is not checked, and no change sends an alert. Declare one with PUT "
                + "/v1/apps/\($0)/contents/…."
        }
        try Self.requireSize(of: report)
        let changes = targets.map { target in
            let old = target.newest.flatMap { try? JSONValue(parsing: $0) }
            let told = target.told.flatMap { try? JSONValue(parsing: $0) } ?? old
            let new = report.content(for: target.audience.variant)
            let change = StateChange(from: old, after: told, to: new, by: target.type)
            return (target: target, told: told, new: new, change: change)
        }
        let news = changes.filter { $0.change.outcome != .unchanged }
        let ends = report.isFinal && !isOver
        let epoch = report.epoch ?? progress.epoch
        if epoch < progress.epoch {
            throw Self.stale("the sequenceEpoch \(progress.epoch)", has: epoch, progress)
        }
        if epoch == progress.epoch, let sequence = report.sequence, let last = progress.sequence,
            sequence < last || sequence == last && !changes.allSatisfy({ $0.told?.isSame(as: $0.new) ?? true })
        {
            throw Self.stale("the sequence \(last)", has: sequence, progress)
        }
        var after = progress
        after.sequence = report.sequence ?? (epoch == progress.epoch ? progress.sequence : nil)
        after.epoch = epoch
        undone = Set(changes.flatMap { Self.undone($0.target, by: $0.new) })
        guard ends || !news.isEmpty else {
            (outcome, rule, request, notBefore, self.progress, warnings) = (.unchanged, nil, nil, nil, after, [])
            return
        }
        let ringing = news.first { $0.change.outcome == .rings }
        var (alert, alerts): ([UInt8]?, [Variant: [UInt8]]) = (nil, [:])
        if let ringing, let old = ringing.told, let place = ringing.change.rule,
            let rule = ringing.target.type?.rules.rings[place]
        {
            alert = rule.alert(for: nil, from: old, to: report.contentState)
            for (target, told, new, _) in changes {
                guard let variant = target.audience.variant,
                    let ownAlert = rule.alert(for: variant, from: told ?? old, to: new), ownAlert != alert
                else { continue }
                alerts[variant] = ownAlert
            }
        }
        let rings = alert != nil || !alerts.isEmpty
        warnings = untyped + (ringing?.change.rule.map { alert == nil ? [Self.withoutText($0)] : [] } ?? [])
        let strongest: Contract.StateOutcome =
            rings ? .rings : news.contains { [.rings, .update].contains($0.change.outcome) } ? .update : .quiet
        outcome = ends ? .end : strongest
        rule = rings ? ringing?.change.rule : nil
        var request = BroadcastRequest(
            payload: BroadcastPayload(event: ends ? .end : .update, contentState: report.contentState.bytes),
            priority: outcome == .end ? nil : outcome == .quiet ? .powerAware : .immediate,
            audiences: ends || news.count == changes.count
                ? report.audiences : news.map { .only($0.target.audience) })
        for (variant, content) in report.byVariant {
            request.byVariant[variant.rawValue] = .init(contentState: RawJSON(unchecked: content.source))
        }
        request.payload.alert = alert
        for (variant, alert) in alerts {
            request.byVariant[variant.rawValue, default: .init()].alert = RawJSON(unchecked: alert)
        }
        if outcome == .quiet {
            let rules = news.first { $0.target.type != nil }?.target.type?.rules ?? StateRules()
            after.quietAt = rules.quietTurn(after: progress.quietAt, at: now)
            notBefore = after.quietAt
        } else {
            notBefore = nil
        }
        self.request = request
        self.progress = after
    }

    /// The broadcasts whose alerts wait for an audience and say what the state `new` undid.
    private static func undone(_ target: TargetAudience, by new: JSONValue) -> [UUID] {
        target.rings.compactMap { ring in
            guard let rules = target.type?.rules.rings, rules.indices.contains(ring.rule),
                let before = try? JSONValue(parsing: ring.before), let state = try? JSONValue(parsing: ring.state),
                rules[ring.rule].isUndone(from: before, to: state, by: new)
            else { return nil }
            return ring.broadcast
        }
    }

    private static func withoutText(_ rule: Int) -> String {
        "The alert of /rules/rings/\(rule) has an empty title with this state (or no title, and an empty body), so the "
            + "state is sent without it. Check the members that it names in braces."
    }

    /// Refuses a content that is too large for any message. This happens before contents are compared.
    private static func requireSize(of report: StateReport) throws(Problem) {
        let limit = APNsLimits.broadcastPayload
        for content in [report.contentState] + report.byVariant.values where content.source.count > limit {
            // Escapes are removed if the content fits without them.
            let plain = JSONScanner.withoutUnicodeEscapes(content.bytes)
            guard plain.count > limit else { continue }
            let size = BroadcastPayload(event: .update, contentState: plain).body(timestamp: 1_000_000_000).count
            throw Problem(
                .payloadTooLarge,
                "The message to APNs would have \(size) bytes; Apple takes \(limit). Shorten contentState by "
                    + "\(size - limit) bytes.",
                members: [.size(size), .limit(limit)])
        }
    }

    /// - Parameters:
    ///   - last: the value that was received before, with its name.
    ///   - value: the value of the refused state.
    private static func stale(_ last: String, has value: Int, _ progress: Progress) -> Problem {
        Problem(
            .staleState,
            "Another state with \(last) was received before, and this one has \(value). Send the newest state, and give each "
                + "state a higher sequence. If the feed's sequence begins anew, send a sequenceEpoch above \(progress.epoch) "
                + "with its states, for example the Unix time at which the feed started.",
            members: progress.sequence.map { [Problem.Member.sequence($0)] } ?? [])
    }
}
