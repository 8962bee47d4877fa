package import APNsWire
package import FoundationEssentials

/// What an accepted broadcast comes to: pure, from the request, the audiences it reaches and the time.
package struct DeliveryPlan: Sendable, Hashable {
    /// One message to one audience's channel.
    package struct Item: Sendable, Hashable {
        package var audience: Audience
        /// The `apns-expiration` header.
        package var apnsExpiration: Int
    }

    package var payload: BroadcastPayload
    package var priority: APNsPriority
    /// When the server stops trying.
    package var expiresAt: Date
    private let expiration: Expiration
    /// Bytes of the body.
    private let size: Int
    /// When its alert is too old to ring, and its content goes on without; `nil`: it has none.
    package var ringsUntil: Date?
    package var items: [Item]
    /// What the organiser should know though it was accepted.
    package var warnings: [String]

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

        let size = request.payload.body(timestamp: Int(now.timeIntervalSince1970)).count
        guard size <= request.bodyLimit else {
            let shortened = request.payload.event == .start ? "attributes, contentState" : "contentState"
            throw Problem(
                .payloadTooLarge,
                "The message to APNs would have \(size) bytes; Apple takes \(request.bodyLimit). "
                    + "Shorten \(shortened) or alert by \(size - request.bodyLimit) bytes.",
                members: [("size", .integer(size)), ("limit", .integer(request.bodyLimit))])
        }

        payload = request.payload
        self.size = size
        self.expiration = expiration
        priority = request.priority ?? (payload.alert != nil || payload.event == .end ? .immediate : .powerAware)
        expiresAt = expiration.deadline(now: now)
        if payload.alert != nil {
            ringsUntil = expiration.isTimed ? expiresAt : min(expiresAt, now.addingTimeInterval(alertFreshness))
        }
        items = chosen.map {
            Item(audience: $0, apnsExpiration: expiration.header(for: $0.storagePolicy, now: now))
        }
        warnings = Self.warnings(for: payload)
    }

    /// An audience's message on one of its lanes. To those who are reached by token: APNs keeps the newest for a device
    /// that is offline, as a channel with `mostRecentMessageStored` does.
    package func item(_ item: Item, on kind: Lane.Kind) -> Item {
        guard kind.isCrowd else { return item }
        return Item(
            audience: item.audience,
            apnsExpiration: expiration.header(for: .mostRecentMessageStored, until: expiresAt))
    }

    /// Why a lane of this kind cannot take the message: a token takes less than a channel.
    ///
    /// - Returns: `payload-too-large`; `nil`: it can.
    package func refusal(by kind: Lane.Kind, of audience: Audience) -> Problem? {
        let limit = kind.bodyLimit
        guard size > limit else { return nil }
        return Problem(
            .payloadTooLarge,
            "The message to APNs would have \(size) bytes, and activities of the audience \(audience.bundleID) in "
                + "\(audience.environment.rawValue) are reached by token: Apple takes \(limit) there. Shorten contentState "
                + "or alert by \(size - limit) bytes, or send to the other audiences only.",
            members: [("size", .integer(size)), ("limit", .integer(limit))])
    }

    private static func choose(
        _ ids: [Audience.ID]?, from audiences: [Audience]
    ) throws(Problem) -> [Audience] {
        guard let ids else { return audiences }
        let byID = Dictionary(audiences.map { ($0.id, $0) }) { first, _ in first }
        var chosen: [Audience] = []
        var errors: [FieldError] = []
        for (index, id) in ids.enumerated() {
            if let audience = byID[id] {
                if !chosen.contains(audience) { chosen.append(audience) }
            } else {
                errors.append(
                    FieldError(
                        pointer: "/audiences/\(index)",
                        detail: "The event has no audience \(id.bundleID) in \(id.environment.rawValue)."))
            }
        }
        guard errors.isEmpty else {
            throw Problem(.invalidRequest, "Some audiences are not the event's.", errors: errors)
        }
        return chosen
    }

    /// Apple keeps no ended activity longer than four hours, whatever the date says (docs/apns.md section 4). One in the
    /// past is Apple's "at once".
    private static func refuseLateDismissal(_ payload: BroadcastPayload, now: Date) throws(Problem) {
        let latest = Int(now.timeIntervalSince1970.rounded(.down)) + APNsLimits.endedActivityLifetime
        guard let date = payload.dismissalDate, date > latest else { return }
        let detail =
            "dismissalDate is more than four hours after the end is sent; Apple removes an ended activity by then. "
            + "Use a time up to \(RFC3339.text(Date(timeIntervalSince1970: Double(latest)))), a past one to "
            + "remove it at once, or leave it out for Apple's four hours."
        throw Problem(
            .invalidRequest, "The dismissal is too late.",
            errors: [FieldError(pointer: "/dismissalDate", detail: detail)])
    }

    private static func warnings(for payload: BroadcastPayload) -> [String] {
        guard let size = payload.contentState?.count, size > APNsLimits.activityData else { return [] }
        return [
            "contentState has \(size) bytes; ActivityKit allows an activity \(APNsLimits.activityData) bytes of static "
                + "and dynamic data together, so devices may drop this update."
        ]
    }
}
