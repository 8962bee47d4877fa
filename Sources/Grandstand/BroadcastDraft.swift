package import APNsWire
package import FoundationEssentials
package import GrandstandContract
package import JSON

extension Contract.BroadcastDraft {
    /// What Apple gets for the audiences of a variant. Times are cut to whole seconds.
    package func payload(for variant: Variant? = nil) -> BroadcastPayload {
        let own = variant.flatMap { byVariant?[$0.rawValue] }
        return BroadcastPayload(
            event: event == .end ? .end : .update, contentState: (own?.contentState ?? contentState)?.utf8,
            alert: (own?.alert ?? alert)?.utf8, staleDate: staleDate?.epoch, dismissalDate: dismissalDate?.epoch,
            relevanceScore: relevanceScore?.utf8)
    }

    /// Reads the body of `POST /v1/events/{key}/broadcasts`, or another body that has a message.
    ///
    /// - Throws: `invalid-request`, `unknown-field`, with every fault that was found.
    package static func checked(
        _ body: JSONValue, as shape: RequestShape = Self.shape
    ) throws(Problem) -> Self {
        try read(body, as: shape) { draft, faults throws(Problem) in
            if draft.event != .end, draft.contentState == nil, draft.sendAt == nil {
                faults.add("/contentState", "contentState is required. Only a message with sendAt may leave it out.")
            }
            if draft.event != .end, draft.dismissalDate != nil {
                faults.add("/dismissalDate", "dismissalDate is allowed only for an end.")
            }
            let variants = (draft.byVariant ?? [:]).sorted { $0.key < $1.key }
            let alerts = [("", draft.alert)] + variants.map { ("/byVariant/\($0.key)", $0.value.alert) }
            for case (let pointer, let alert?) in alerts {
                faults.requireText(
                    of: alert, at: pointer + "/alert", "Leave alert out for an update that does not alert.")
            }
            return draft
        }
    }

    /// The message with the event's defaults in place of values that it does not set. The priority is not one of them,
    /// because the audience's priority comes before the event's (`DeliveryPlan`).
    ///
    /// - Parameter time: when the message is sent.
    package func filled(by defaults: Contract.EventDefaults, at time: Date) -> Self {
        var draft = self
        // Activities that miss an `end` would stay, so an `end` does not expire early.
        if event != .end, apnsExpiration == nil { draft.expiresIn = expiresIn ?? defaults.expiresIn }
        draft.staleDate = staleDate ?? defaults.staleAfter.map { time.addingTimeInterval(Double($0)) }
        draft.relevanceScore = relevanceScore ?? defaults.relevanceScore
        return draft
    }

    /// The message as it fits Apple's limit. Many clients write `\u00e9` for é, six bytes in place of two. If contents
    /// and alerts fit only without such escapes, they are written without them, with a warning. Otherwise, every byte
    /// stays.
    ///
    /// - Parameter now: when the message is sent.
    package func fitted(at now: Date) -> (draft: Self, warning: String?) {
        guard isTooLarge(now.epoch) else { return (self, nil) }
        var short = self
        short.contentState = Self.unescaped(contentState)
        short.alert = Self.unescaped(alert)
        short.byVariant = byVariant?.mapValues {
            Contract.VariantContent(contentState: Self.unescaped($0.contentState), alert: Self.unescaped($0.alert))
        }
        guard !short.isTooLarge(now.epoch) else { return (self, nil) }
        return (
            short,
            #"This fits Apple's \#(APNsLimits.broadcastPayload) bytes only without the escapes \u of its texts, so it "#
                + "is sent with the characters themselves. Write JSON without them, in Python with ensure_ascii=False."
        )
    }

    private func isTooLarge(_ timestamp: Int) -> Bool {
        ([nil] + (byVariant ?? [:]).keys.map(Variant.init(rawValue:))).contains { variant in
            let payload = payload(for: variant)
            let texts = (payload.contentState?.count ?? 0) + (payload.alert?.count ?? 0)
            // Few messages are near the limit, and only their bodies are made.
            return texts > APNsLimits.broadcastPayload - 512
                && payload.body(timestamp: timestamp).count > APNsLimits.broadcastPayload
        }
    }

    private static func unescaped(_ json: RawJSON?) -> RawJSON? {
        json.map { RawJSON(unchecked: JSONParser.withoutUnicodeEscapes($0.utf8)) }
    }
}

extension Date {
    /// The time in Apple's payload: whole seconds since 1970.
    package var epoch: Int { Int(timeIntervalSince1970.rounded(.down)) }

    /// - Parameter epoch: whole seconds since 1970.
    package init(epoch: Int) { self.init(timeIntervalSince1970: Double(epoch)) }
}

extension Contract.BroadcastState {
    /// Derives the state from the states of the deliveries.
    package init(isScheduled: Bool, isCancelled: Bool, deliveries: some Collection<Contract.DeliveryState>) {
        if isScheduled {
            self = .scheduled
        } else if isCancelled || !deliveries.isEmpty && deliveries.allSatisfy({ $0 == .cancelled }) {
            self = .cancelled
        } else {
            self = deliveries.allSatisfy(\.isSettled) ? .done : .queued
        }
    }
}

extension Contract.DeliveryState {
    /// Whether this state is final.
    package var isSettled: Bool {
        switch self {
        case .waiting, .queued, .sending: false
        case .accepted, .superseded, .expired, .rejected, .cancelled, .unknown: true
        }
    }
}

extension Contract.TokenCounts {
    /// The outcomes of a message to tokens.
    ///
    /// - Parameter state: the state of the message. If it is final, tokens that were not reached do not get the message.
    package init(_ progress: TokenProgress, _ state: Contract.DeliveryState) {
        self.init(
            total: progress.total, accepted: progress.accepted, rejected: progress.rejected, gone: progress.gone,
            expired: progress.expired + (state == .expired ? progress.remaining : 0),
            pending: state.isSettled ? 0 : progress.remaining)
    }
}

extension Contract.Broadcast {
    /// Sets the deliveries, and what follows from them.
    package mutating func set(_ deliveries: [Contract.Delivery], isScheduled: Bool, isCancelled: Bool) {
        self.deliveries = deliveries
        state = .init(isScheduled: isScheduled, isCancelled: isCancelled, deliveries: deliveries.map(\.state))
        counts = Dictionary(grouping: deliveries, by: \.state.rawValue).mapValues(\.count)
    }

    /// The ID as the database has it.
    package var uuid: UUID {
        guard let uuid = UUID(uuidString: id) else { preconditionFailure("\(id) is not the ID of a broadcast") }
        return uuid
    }
}

extension Contract.Delivery {
    /// The delivery of a message that was accepted just now.
    package init(_ message: LaneMessage, _ audience: Audience) {
        self.init(
            kind: message.kind, counts: message.tokens.map { Contract.TokenCounts($0, message.state) },
            bundleId: audience.bundleID.rawValue, environment: .init(audience.environment),
            variant: audience.variant?.rawValue, channelId: message.channelID, state: message.state, attempts: 0,
            priority: message.priority.rawValue, apnsExpiration: message.apnsExpiration,
            apnsRequestId: message.requestID.text)
    }
}
