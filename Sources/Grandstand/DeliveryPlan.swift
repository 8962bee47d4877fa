package import APNsWire
package import FoundationEssentials
internal import JSON

/// The deliveries of an accepted broadcast: pure, from the request, the audiences it reaches and the time.
package struct DeliveryPlan: Sendable, Hashable {
    /// One message to one audience's channel.
    package struct Item: Sendable, Hashable {
        package var audience: Audience
        /// As its variant gets it.
        package var payload: BroadcastPayload
        package var priority: APNsPriority
        /// Its priority without its alert.
        package var plainPriority: APNsPriority
        /// When its alert is too old to ring, and its content goes on without; `nil`: it has none.
        package var ringsUntil: Date?
        /// The `apns-expiration` header.
        package var apnsExpiration: Int
        /// The member of its content that gets the time when it is sent.
        package var stamp: Stamp?

        /// As long as it can get by its stamp.
        package var longest: BroadcastPayload { payload.stamped(stamp, timestamp: Stamp.longest) }
    }

    package var content: BroadcastContent
    /// Of the message to an audience that has no priority of its own, as everybody gets it.
    package var priority: APNsPriority { priority(of: payload, for: nil) }
    /// As the organiser asked for it.
    private let asked: APNsPriority?
    /// As its event has it.
    private let ofEvent: APNsPriority?
    /// When the server stops trying.
    package var expiresAt: Date
    private let expiration: Expiration
    /// When an alert is too old to ring.
    private let alertsRingUntil: Date
    package internal(set) var items: [Item] = []
    /// Warnings for the organiser; the broadcast is accepted all the same.
    package var warnings: [String]

    /// As every audience gets it that has no content of its own.
    package var payload: BroadcastPayload { content.payload }

    /// Seconds for which an alert rings when nothing else is said.
    package static let alertFreshness: TimeInterval = 900

    /// Plans `request` for `audiences`, those of the event that it reaches.
    ///
    /// - Parameters:
    ///   - now: when it is sent.
    ///   - alertFreshness: seconds for which an alert rings, unless the organiser says how long the message is worth
    ///     sending.
    /// - Throws: `expiration-not-allowed`, `payload-too-large`, or `invalid-request` for audiences the event lacks or a
    ///   dismissal that Apple does not wait for.
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
        try Self.refuseTooLarge(content.payload, nil, request.bodyLimit, now: now)
        let overridden = content.byVariant.isEmpty ? [] : Self.overridden(content, chosen)
        for variant in overridden {
            try Self.refuseTooLarge(content.payload(for: variant), variant, request.bodyLimit, now: now)
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

    /// The variants among the audiences that get something of their own, in the order of their names.
    private static func overridden(_ content: BroadcastContent, _ audiences: [Audience]) -> [Variant] {
        Set(audiences.lazy.compactMap(\.variant)).filter { content.byVariant[$0] != nil }.sorted()
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

    /// An audience's message on one of its lanes. To activities that are reached by token: APNs keeps the newest for a
    /// device that is offline, as a channel with `mostRecentMessageStored` does.
    package func item(_ item: Item, on kind: Lane.Kind) -> Item {
        guard kind.isCrowd else { return item }
        var kept = self.item(for: item.audience, expiration.header(for: .mostRecentMessageStored, until: expiresAt))
        kept.stamp = item.stamp
        return kept
    }

    /// Warns of audiences that the message leaves out, though it is for all: they got their `end`.
    package mutating func warn(ended: [Audience]) {
        guard !ended.isEmpty else { return }
        let names = ended.map(\.id.words)
        warnings.append(
            "This is not sent to \(names.joined(separator: ", ")): an end was sent there. Reopen the event if that was wrong."
        )
    }

    /// Warns of audiences whose channel is not made because there is no place for it.
    package mutating func warn(withoutPlace audiences: [Audience]) {
        guard !audiences.isEmpty else { return }
        warnings.append(
            "There is no place for the channel of \(audiences.map(\.id.words).joined(separator: ", ")): the app has as many "
                + "channels as its limit or Apple allows. This waits for the channel until \(RFC3339.text(expiresAt)), and is "
                + "not sent if there is none by then. GET /v1/quotas says which channels take the places.")
    }

    /// Why a lane of this kind cannot take the message: a token takes less than a channel.
    ///
    /// - Returns: `payload-too-large`; `nil`: it can.
    package func refusal(by kind: Lane.Kind, of item: Item) -> Problem? {
        // The limit of others was kept when this was planned.
        guard kind.isCrowd else { return nil }
        let (limit, audience) = (kind.bodyLimit, item.audience)
        let size = item.longest.body(timestamp: Int(expiresAt.timeIntervalSince1970)).count
        guard size > limit else { return nil }
        return Problem(
            .payloadTooLarge,
            "The message to APNs would have \(size) bytes, and activities of the audience \(audience.bundleID) in "
                + "\(audience.environment.rawValue) are reached by token: Apple takes \(limit) there. Shorten contentState "
                + "or alert by \(size - limit) bytes.",
            members: [("size", .integer(size)), ("limit", .integer(limit))])
    }

    /// Warnings for refusals by some lanes of a broadcast that others take.
    package static func warnings(tooLongForTokens refusals: [Problem]) -> [String] {
        // The same is said of each app's crowd.
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
            throw Problem(.invalidRequest, "Some audiences are not the event's.", errors: errors)
        }
        return chosen
    }

    /// - Parameter variant: whose message it is; `nil`: the general one.
    private static func refuseTooLarge(
        _ payload: BroadcastPayload, _ variant: Variant?, _ limit: Int, now: Date
    ) throws(Problem) {
        let size = payload.body(timestamp: Int(now.timeIntervalSince1970)).count
        guard size > limit else { return }
        let shortened = payload.event == .start ? "attributes, contentState" : "contentState"
        throw Problem(
            .payloadTooLarge,
            "The message to APNs\(of(variant)) would have \(size) bytes; Apple takes \(limit). "
                + "Shorten \(shortened) or alert by \(size - limit) bytes.",
            errors: variant.map {
                [FieldError(pointer: "/byVariant/\($0)", detail: "It is \(size - limit) bytes too long.")]
            } ?? [],
            members: [("size", .integer(size)), ("limit", .integer(limit))])
    }

    private static func of(_ variant: Variant?) -> String { variant.map { " for variant \($0)" } ?? "" }

    /// Apple keeps no ended activity longer than four hours, whatever the date says (docs/internals/apns.md section 4).
    /// One in the past is Apple's "at once".
    private static func refuseLateDismissal(_ payload: BroadcastPayload, now: Date) throws(Problem) {
        let latest = Int(now.timeIntervalSince1970.rounded(.down)) + APNsLimits.endedActivityLifetime
        guard let date = payload.dismissalDate, date > latest else { return }
        let detail =
            "dismissalDate is more than four hours after the end is sent; Apple removes an ended activity by then. "
            + "Use a time up to \(RFC3339.text(Date(timeIntervalSince1970: Double(latest)))), a past one to "
            + "remove it at once, or leave it out for Apple's four hours."
        throw Problem.invalid("The dismissal is too late.", at: "/dismissalDate", detail)
    }

    /// One at most, for all contents that are too long.
    private static func warnings(for content: BroadcastContent, _ variants: [Variant]) -> [String] {
        let ofVariants = variants.map { ($0, content.byVariant[$0]?.contentState) }
        let sizes = [(nil, content.payload.contentState)] + ofVariants.map { (Optional($0), $1) }
        let long = sizes.compactMap { variant, contentState -> String? in
            guard let size = contentState?.count, size > APNsLimits.activityData else { return nil }
            return "\(size) bytes\(of(variant))"
        }
        guard !long.isEmpty else { return [] }
        return [
            "contentState has \(long.joined(separator: ", ")); ActivityKit allows an activity "
                + "\(APNsLimits.activityData) bytes of static and dynamic data together, so devices may drop this update."
        ]
    }
}
