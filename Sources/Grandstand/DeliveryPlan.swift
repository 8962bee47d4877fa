package import APNsWire
package import FoundationEssentials
internal import JSON

/// The deliveries of an accepted broadcast. Pure: it depends only on the request, its audiences and the time.
package struct DeliveryPlan: Sendable, Equatable {
    /// The message to one audience, as the audience's channel gets it. `item(_:on:)` makes the form for a crowd of
    /// tokens from it.
    package struct Item: Sendable, Equatable {
        package var audience: Audience
        /// The payload for the audience's variant.
        package var payload: BroadcastPayload
        package var priority: APNsPriority
        /// The priority if the message is sent without its alert.
        package var plainPriority: APNsPriority
        /// When the alert becomes too old. After that the content is sent without the alert. `nil`: there is no alert.
        package var ringsUntil: Date?
        /// The `apns-expiration` header.
        package var apnsExpiration: Int
        /// The message's lane, as `spread` was told it.
        package internal(set) var place = 0
        /// Why the lane cannot take the message.
        package internal(set) var refusal: Problem?
    }

    package var content: BroadcastContent
    /// The priority of the general message, for an audience without its own priority.
    package var priority: APNsPriority { priority(of: payload, for: nil) }
    /// The priority in the organiser's request.
    private let asked: APNsPriority?
    /// The event's default priority.
    private let ofEvent: APNsPriority?
    /// When the server stops trying to send the message.
    package var expiresAt: Date
    private let expiration: Expiration
    /// When alerts become too old to be sent.
    private let alertsRingUntil: Date
    package internal(set) var items: [Item] = []
    /// Warnings for the organiser of the accepted broadcast.
    package var warnings: [String]

    /// The general payload, for audiences without their own.
    package var payload: BroadcastPayload { content.payload }

    /// Seconds after which an alert is too old, by default.
    package static let alertFreshness: TimeInterval = 900

    /// Plans the deliveries of `request` to `audiences`.
    ///
    /// - Parameters:
    ///   - now: when the broadcast is sent.
    ///   - alertFreshness: seconds after which an alert is too old, unless the request says how long its content is
    ///     worth sending.
    /// - Throws: `expiration-not-allowed`, `payload-too-large`, or `invalid-request` for audiences that the event does
    ///   not have, or for a dismissal date later than Apple allows.
    package init(
        _ request: BroadcastRequest, audiences: [Audience], now: Date,
        alertFreshness: TimeInterval = alertFreshness
    ) throws(Problem) {
        let chosen = try Self.choose(request.audiences, from: audiences)
        try Self.refuseLateDismissal(request.payload, now: now)
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

        let content = request.content
        try Self.refuseTooLarge(content.payload, nil, now: now)
        let overridden = content.byVariant.isEmpty ? [] : Self.overridden(content, chosen)
        for variant in overridden {
            try Self.refuseTooLarge(content.payload(for: variant), variant, now: now)
        }

        self.content = content
        self.expiration = expiration
        asked = request.priority
        ofEvent = request.eventPriority
        let expiresAt = expiration.deadline(now: now)
        self.expiresAt = expiresAt
        alertsRingUntil = expiration.isTimed ? expiresAt : min(expiresAt, now.addingTimeInterval(alertFreshness))
        warnings = Self.warnings(for: content, overridden)
        items = chosen.map { item(for: $0, expiration.header(for: $0.storagePolicy, now: now)) }
    }

    /// The variants that have their own content or alert and belong to one of these audiences, sorted by name.
    private static func overridden(_ content: BroadcastContent, _ audiences: [Audience]) -> [Variant] {
        Set(audiences.lazy.compactMap(\.variant)).filter { content.byVariant[$0.rawValue] != nil }.sorted()
    }

    private func item(for audience: Audience, _ apnsExpiration: Int) -> Item {
        let payload = content.payload(for: audience.variant)
        let plain: APNsPriority = payload.event == .end ? .immediate : .powerAware
        return Item(
            audience: audience, payload: payload, priority: priority(of: payload, for: audience),
            plainPriority: asked ?? audience.priority ?? ofEvent ?? plain,
            ringsUntil: payload.alert == nil ? nil : alertsRingUntil, apnsExpiration: apnsExpiration)
    }

    private func priority(of payload: BroadcastPayload, for audience: Audience?) -> APNsPriority {
        asked ?? audience?.priority ?? ofEvent
            ?? (payload.alert != nil || payload.event == .end ? .immediate : .powerAware)
    }

    /// The message to an audience on a lane of this kind. A message to a crowd gets the `apns-expiration` for
    /// `mostRecentMessageStored`, because APNs stores the newest message to a token for an offline device.
    package func item(_ item: Item, on kind: Lane.Kind) -> Item {
        guard kind.isCrowd else { return item }
        return self.item(for: item.audience, expiration.header(for: .mostRecentMessageStored, until: expiresAt))
    }

    /// Puts each message on the lanes of its audience.
    ///
    /// - Parameter lanes: the lanes of an audience, each with a number of the caller's choice.
    package mutating func spread(over lanes: (Audience.ID) -> [(place: Int, kind: Lane.Kind)]) {
        let plan = self
        items = items.flatMap { item in
            lanes(item.audience.id).map { place, kind in
                var message = plan.item(item, on: kind)
                (message.place, message.refusal) = (place, plan.refusal(by: kind, of: item))
                return message
            }
        }
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

    /// Checks the size limit of this kind of lane. A token's limit is lower than a channel's.
    ///
    /// - Returns: `payload-too-large`; `nil`: the size is allowed.
    package func refusal(by kind: Lane.Kind, of item: Item) -> Problem? {
        // For channels the limit was checked when the broadcast was planned.
        guard kind.isCrowd else { return nil }
        let (limit, audience) = (kind.bodyLimit, item.audience)
        let size = item.payload.body(timestamp: Int(expiresAt.timeIntervalSince1970)).count
        guard size > limit else { return nil }
        return Problem(
            .payloadTooLarge,
            "The message to APNs would have \(size) bytes, and activities of the audience \(audience.bundleID) in "
                + "\(audience.environment.rawValue) are reached by token: Apple takes \(limit) there. Shorten "
                + "contentState or alert by \(size - limit) bytes.",
            members: [.size(size), .limit(limit)])
    }

    /// Warnings for an accepted broadcast that is too large for some crowds.
    package static func warnings(tooLongForTokens refusals: [Problem]) -> [String] {
        // Several crowds of one app and environment may give the same text. It is reported once.
        var said: [String] = []
        for refusal in refusals {
            let words = "This does not reach some activities: \(refusal.detail)"
            if !said.contains(words) { said.append(words) }
        }
        return said
    }

    private static func choose(
        _ selectors: [AudienceSelector]?, from audiences: [Audience]
    ) throws(Problem) -> [Audience] {
        guard let selectors else { return audiences }
        var chosen: [Audience] = []
        var errors: [FieldError] = []
        for (index, selector) in selectors.enumerated() {
            let named = audiences.filter { selector.matches($0.id) }
            for audience in named where !chosen.contains(audience) { chosen.append(audience) }
            guard named.isEmpty else { continue }
            errors.append(
                FieldError(
                    pointer: "/audiences/\(index)", detail: selector.objection(among: audiences.lazy.map(\.id))))
        }
        guard errors.isEmpty else {
            throw Problem(.invalidRequest, "The event does not have some of these audiences.", errors: errors)
        }
        return chosen
    }

    /// - Parameter variant: the variant of the message; `nil`: it is the general one.
    private static func refuseTooLarge(
        _ payload: BroadcastPayload, _ variant: Variant?, now: Date
    ) throws(Problem) {
        let limit = APNsLimits.broadcastPayload
        let size = payload.body(timestamp: Int(now.timeIntervalSince1970)).count
        guard size > limit else { return }
        throw Problem(
            .payloadTooLarge,
            "The message to APNs\(of(variant)) would have \(size) bytes; Apple takes \(limit). "
                + "Shorten contentState or alert by \(size - limit) bytes.",
            errors: variant.map {
                [FieldError(pointer: "/byVariant/\($0)", detail: "It is \(size - limit) bytes too long.")]
            } ?? [],
            members: [.size(size), .limit(limit)])
    }

    private static func of(_ variant: Variant?) -> String { variant.map { " for variant \($0)" } ?? "" }

    /// Refuses a dismissal date more than four hours ahead, because Apple keeps no ended activity longer
    /// (docs/internals/apns.md section 4). A date in the past means "at once" to Apple.
    private static func refuseLateDismissal(_ payload: BroadcastPayload, now: Date) throws(Problem) {
        let latest = Int(now.timeIntervalSince1970.rounded(.down)) + APNsLimits.endedActivityLifetime
        guard let date = payload.dismissalDate, date > latest else { return }
        let detail =
            "dismissalDate is more than four hours after the end is sent; Apple removes an ended activity by then. "
            + "Use a time up to \(RFC3339.text(Date(timeIntervalSince1970: Double(latest)))), a past one to "
            + "remove it at once, or leave it out for Apple's four hours."
        throw Problem.invalid("The dismissal is too late.", at: "/dismissalDate", detail)
    }

    /// At most one warning for all contents that are too long.
    private static func warnings(for content: BroadcastContent, _ variants: [Variant]) -> [String] {
        let ofVariants = variants.map { (Optional($0), content.byVariant[$0.rawValue]?.contentState?.bytes.count) }
        let sizes = [(nil, content.payload.contentState?.count)] + ofVariants
        let long = sizes.compactMap { variant, size -> String? in
            guard let size, size > APNsLimits.activityData else { return nil }
            return "\(size) bytes\(of(variant))"
        }
        guard !long.isEmpty else { return [] }
        return [
            "contentState has \(long.joined(separator: ", ")); ActivityKit allows an activity "
                + "\(APNsLimits.activityData) bytes of static and dynamic data together, so devices may drop this update."
        ]
    }
}
