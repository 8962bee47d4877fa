internal import APNsWire
package import FoundationEssentials
package import GrandstandContract
internal import JSON

/// The deliveries of an accepted broadcast. Pure: it depends only on the request, its audiences and the time.
package struct DeliveryPlan: Sendable {
    /// Who gets one message: an audience's channel, or its tokens.
    package struct Item: Sendable {
        package let audience: Audience
        /// The message's lane, as a number of the caller's choice.
        package let lane: Int
        package let kind: Contract.DeliveryKind
        /// The audience's content type.
        let type: ContentType?
        /// The name of a content type that the audience has but its app does not have.
        let missingType: String?
        /// Why the tokens cannot get the message.
        package internal(set) var refusal: Problem?

        package init(
            _ audience: Audience, lane: Int = 0, kind: Contract.DeliveryKind = .channel, type: ContentType? = nil,
            missingType: String? = nil
        ) {
            self.audience = audience
            self.lane = lane
            self.kind = kind
            self.type = type
            self.missingType = missingType
        }
    }

    /// The message as it is sent: with the event's defaults, and fitted to Apple's limit.
    package let draft: Contract.BroadcastDraft
    private let eventPriority: Int?
    /// When the server stops trying to send the message.
    package let expiresAt: Date
    private let expiration: Expiration
    /// When alerts become too old to be sent.
    private let alertsRingUntil: Date
    package internal(set) var items: [Item]
    /// Warnings for the organiser of the accepted broadcast.
    package var warnings: [String]

    /// Seconds after which an alert is too old, by default.
    package static let alertFreshness: TimeInterval = 900

    /// Plans the deliveries of a message, and checks its contents.
    ///
    /// - Parameters:
    ///   - defaults: the event's.
    ///   - all: all who could get it, in the order of the event's audiences.
    ///   - now: when the broadcast is sent.
    ///   - alertFreshness: seconds after which an alert is too old, unless the request says how long its content is
    ///     worth sending.
    /// - Throws: `expiration-not-allowed`, `payload-too-large`, `content-mismatch`, or `invalid-request` for audiences
    ///   that the event does not have, or for a dismissal date later than Apple allows.
    package init(
        _ draft: Contract.BroadcastDraft, by defaults: Contract.EventDefaults = .init(), to all: [Item], now: Date,
        alertFreshness: TimeInterval = alertFreshness
    ) throws(Problem) {
        let (request, warning) = draft.filled(by: defaults, at: now).fitted(at: now)
        items = try Self.choose(request.audiences, from: all)
        let chosen = items.map(\.audience)
        try Self.refuseLateDismissal(request.payload(), now: now)
        let expiration: Expiration =
            if let value = request.apnsExpiration {
                .header(value)
            } else if let seconds = request.expiresIn {
                .after(seconds: seconds)
            } else {
                .standard
            }
        let objections = chosen.compactMap { audience in
            expiration.objection(for: audience.storagePolicy, now: now)
        }
        if let objection = objections.first {
            throw Problem(
                .expirationNotAllowed, objection, errors: [FieldError(pointer: "/apnsExpiration", detail: objection)])
        }

        try Self.refuseTooLarge(request.payload(), nil, now: now)
        // The variants that have their own content or alert and belong to one of these audiences.
        let byVariant = request.byVariant ?? [:]
        let variants = Set(chosen.compactMap(\.variant))
        let overridden = variants.filter { byVariant[$0.rawValue] != nil }.sorted()
        for variant in overridden {
            try Self.refuseTooLarge(request.payload(for: variant), variant, now: now)
        }

        self.draft = request
        eventPriority = defaults.priority
        self.expiration = expiration
        let expiresAt = expiration.deadline(now: now)
        self.expiresAt = expiresAt
        alertsRingUntil = expiration.isTimed ? expiresAt : min(expiresAt, now.addingTimeInterval(alertFreshness))
        warnings = Self.warnings(for: request, overridden) + (warning.map { [$0] } ?? [])
        for index in items.indices where items[index].kind == .tokens {
            items[index].refusal = refusal(ofTokensOf: items[index].audience)
        }
        try checkContents()
    }

    /// A message of the broadcast `id`, as its lane accepts it. It gets its own request ID then.
    ///
    /// A message to tokens gets the `apns-expiration` for `mostRecentMessageStored`, because APNs stores the newest message
    /// to a token for an offline device.
    package func message(of id: UUID, to item: Item) -> LaneMessage {
        let (audience, isForTokens) = (item.audience, item.kind == .tokens)
        let payload = draft.payload(for: audience.variant)
        let (isEnd, rings) = (payload.event == .end, payload.alert != nil)
        let number = draft.priority ?? audience.priority ?? eventPriority
        let given = number.flatMap(APNsPriority.init(rawValue:))
        let plain: APNsPriority = isEnd ? .immediate : .powerAware
        let policy = isForTokens ? .mostRecentMessageStored : audience.storagePolicy
        return LaneMessage(
            broadcast: id, isEnd: isEnd, dismissalDate: payload.dismissalDate,
            priority: given ?? (rings ? .immediate : plain), silentPriority: given ?? plain, hasAlert: rings,
            ringsUntil: rings ? alertsRingUntil : nil, apnsExpiration: expiration.header(for: policy, until: expiresAt),
            expiresAt: expiresAt, requestID: id, hasContent: payload.contentState != nil,
            contentBytes: payload.contentState.map { $0.count + (payload.relevanceScore?.count ?? 0) },
            alertBytes: payload.alert?.count, tokens: isForTokens ? TokenProgress() : nil)
    }

    /// Warns about audiences that do not get this message, because they already got their `end`.
    package mutating func warn(ended: [Audience]) {
        guard !ended.isEmpty else { return }
        let names = ended.map(\.id.words)
        warnings.append(
            "This is not sent to \(names.joined(separator: ", ")): an end was sent there. Reopen the event if "
                + "that was wrong."
        )
    }

    /// Warns of audiences without a channel, because the app's channel limit is reached.
    package mutating func warn(withoutPlace audiences: [Audience]) {
        guard !audiences.isEmpty else { return }
        warnings.append(
            "There is no place for the channel of \(audiences.map(\.id.words).joined(separator: ", ")): the app has "
                + "as many channels as its limit or Apple allows. This waits for the channel until "
                + "\(RFC3339.text(expiresAt)), and is not sent if there is none by then. GET /v1/quotas shows "
                + "which channels use the places.")
    }

    /// Checks the size limit of a message to tokens, which is lower than that of a message to a channel.
    ///
    /// - Returns: `payload-too-large`; `nil`: the size is allowed.
    private func refusal(ofTokensOf audience: Audience) -> Problem? {
        let limit = Contract.DeliveryKind.tokens.bodyLimit
        let size = draft.payload(for: audience.variant).body(timestamp: expiresAt.epoch).count
        guard size > limit else { return nil }
        return Problem(
            .payloadTooLarge,
            "The message to APNs would have \(size) bytes, and activities of the audience \(audience.bundleID) in "
                + "\(audience.environment.rawValue) are reached by token: Apple takes \(limit) there. Shorten "
                + "contentState or alert by \(size - limit) bytes."
        ) { ($0.size, $0.limit) = (size, limit) }
    }

    /// Warnings for an accepted broadcast that is too large for some tokens.
    package static func warnings(tooLongForTokens refusals: [Problem]) -> [String] {
        // Several audiences of one app and environment may give the same text. It is reported once.
        var said: [String] = []
        for refusal in refusals {
            let words = "This does not reach some activities: \(refusal.detail)"
            if !said.contains(words) { said.append(words) }
        }
        return said
    }

    private static func choose(
        _ selectors: [Contract.AudienceSelector]?, from all: [Item]
    ) throws(Problem) -> [Item] {
        guard let selectors else { return all }
        try selectors.require(among: Set(all.map(\.audience.id)))
        // In the order of the selectors, each item with the first one that selects it.
        return selectors.enumerated().flatMap { index, selector in
            all.filter { item in
                selector.matches(item.audience.id) && !selectors[..<index].contains { $0.matches(item.audience.id) }
            }
        }
    }

    /// - Parameter variant: the variant of the message; `nil`: it is the general one.
    private static func refuseTooLarge(
        _ payload: BroadcastPayload, _ variant: Variant?, now: Date
    ) throws(Problem) {
        let limit = APNsLimits.broadcastPayload
        let size = payload.body(timestamp: now.epoch).count
        guard size > limit else { return }
        throw Problem(
            .payloadTooLarge,
            "The message to APNs\(phrase(variant)) would have \(size) bytes; Apple takes \(limit). "
                + "Shorten contentState or alert by \(size - limit) bytes.",
            errors: variant.map {
                [FieldError(pointer: "/byVariant/\($0)", detail: "It is \(size - limit) bytes too long.")]
            } ?? []
        ) { ($0.size, $0.limit) = (size, limit) }
    }

    private static func phrase(_ variant: Variant?) -> String { variant.map { " for variant \($0)" } ?? "" }

    /// Refuses a dismissal date more than four hours ahead, because Apple keeps no ended activity longer
    /// (docs/internals/apns.md section 4). A date in the past means "at once" to Apple.
    private static func refuseLateDismissal(_ payload: BroadcastPayload, now: Date) throws(Problem) {
        let latest = now.epoch + APNsLimits.endedActivityLifetime
        guard let date = payload.dismissalDate, date > latest else { return }
        let detail =
            "dismissalDate is more than four hours after the end is sent; Apple removes an ended activity by then. "
            + "Use a time up to \(RFC3339.text(Date(epoch: latest))), a past one to "
            + "remove it at once, or leave it out for Apple's four hours."
        throw Problem.invalid("The dismissal is too late.", at: "/dismissalDate", detail)
    }

    /// At most one warning for all contents that are too long.
    private static func warnings(for request: Contract.BroadcastDraft, _ variants: [Variant]) -> [String] {
        let ofVariants = variants.map { (Optional($0), request.byVariant?[$0.rawValue]?.contentState?.bytes.count) }
        let sizes = [(nil, request.contentState?.bytes.count)] + ofVariants
        let long = sizes.compactMap { variant, size -> String? in
            guard let size, size > APNsLimits.activityData else { return nil }
            return "\(size) bytes\(phrase(variant))"
        }
        guard !long.isEmpty else { return [] }
        return [
            "contentState has \(long.joined(separator: ", ")); ActivityKit allows an activity "
                + "\(APNsLimits.activityData) bytes of static and dynamic data together, so devices may drop this update."
        ]
    }
}
