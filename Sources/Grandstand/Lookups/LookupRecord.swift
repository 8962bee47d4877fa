internal import APNsWire
package import FoundationEssentials
package import GrandstandContract
internal import JSON

/// The subject of a lookup: an event, for an app, in one of its variants.
package struct LookupKey: Sendable {
    package let app: AppEnvironment
    package let key: EventKey
    /// `nil`: the audience without a variant, else the first that is not over.
    let variant: Variant?

    package init(app: AppEnvironment, key: EventKey, variant: Variant? = nil) {
        (self.app, self.key, self.variant) = (app, key, variant)
    }
}

/// The newest content of an audience, and the `aps.timestamp` of the message with this content.
package typealias LookupContent = (state: RawJSON, timestamp: Int)

/// The JSON text of an answer, with its entity tag.
package struct LookupBody: Sendable, Equatable {
    package let bytes: [UInt8]
    package let tag: EntityTag

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        tag = EntityTag(of: bytes)
    }
}

/// One audience of an event, with everything that a lookup's answer depends on except the time. Its members are the
/// columns of `LookupStore.records`.
package struct LookupRecord: Sendable, Equatable, Decodable {
    package var key: EventKey
    /// The lowercased bundle ID.
    var apnsTopic: String
    var environment: APNsEnvironment
    /// The lane of the audience's messages.
    package var lane = 0
    var storagePolicy: Contract.StoragePolicy
    /// Apple's ID; `nil` while there is no channel to follow.
    var channelID: String?
    var delivery = Contract.AudienceDelivery.channel
    var startsAt: Date?
    var endsAt: Date?
    var firstUpdateAt: Date?
    /// When the event ended for this audience, which may be before the event itself ends.
    var endedAt: Date?
    var cancelledAt: Date?
    var variant: Variant?
    /// The event's name in lists; `nil`: lists leave the event out.
    var name: String?
    var kind: String?
    var topics: [String] = []
    /// When the channel will be created; `nil`: at once. When this time passes, nothing is announced until the channel
    /// exists or its creation is refused.
    var opensAt: Date?
    /// When a creation that was refused is tried again; `nil`: the creation was not refused.
    var nextAttemptAt: Date?
    /// Why it was refused: `quota-exhausted`, or APNs' reason; `nil`: it is not known.
    var reason: String?

    /// The audience as it is at `now`.
    ///
    /// - Parameters:
    ///   - variants: the variants of all of the app's audiences.
    ///   - content: the newest content, if the caller asked for it.
    func lookup(variants: [Variant] = [], with content: LookupContent? = nil, now: Date) -> Contract.Lookup {
        let hasChannel = delivery != .tokens
        return Contract.Lookup(
            eventKey: key.rawValue, channelId: hasChannel ? channelID : nil,
            // Only audiences that are reached by tokens have `delivery`. Older apps do not know this member, but they
            // look up only events with a channel.
            delivery: hasChannel ? nil : delivery, variant: variant?.rawValue,
            variants: variants.isEmpty ? nil : variants.map(\.rawValue), storagePolicy: storagePolicy,
            state: state(now: now), startsAt: startsAt, endsAt: endsAt, contentState: content?.state,
            timestamp: content?.timestamp)
    }

    /// Whether this audience can no longer follow the event.
    package var isOver: Bool { endedAt != nil || cancelledAt != nil }

    package func state(now: Date) -> Contract.EventState {
        Contract.EventState(
            startsAt: startsAt, firstUpdateAt: firstUpdateAt, endedAt: endedAt,
            cancelledAt: cancelledAt, now: now)
    }

    package func isOf(_ app: AppEnvironment) -> Bool {
        environment == app.environment && apnsTopic == app.bundleID.topic
    }
}

extension [LookupRecord] {
    /// The app's record with this variant. For `nil`: the record without a variant, else the first that is not over,
    /// else the first. The records must be in the order of their declaration.
    package func index(of variant: Variant?, for app: AppEnvironment) -> Int? {
        var first: Int?
        for index in indices where self[index].isOf(app) {
            if self[index].variant == variant { return index }
            if first.map({ self[$0].isOver && !self[index].isOver }) ?? true { first = index }
        }
        return variant == nil ? first : nil
    }
}

/// An event in memory.
package struct LookupEvent: Sendable {
    /// The records of the event's audiences, in the order of their declaration.
    package let records: [LookupRecord]
    /// The bodies that were asked for, by the index of their record, each with the state that it shows. A body depends
    /// on the time only by this state.
    private var bodies: [Int: (state: Contract.EventState, body: LookupBody)] = [:]

    package init(_ records: [LookupRecord]) { self.records = records }

    /// The record that answers a lookup.
    package func record(of name: LookupKey) -> LookupRecord? {
        records.index(of: name.variant, for: name.app).map { records[$0] }
    }

    /// The answer to a lookup.
    ///
    /// - Parameter content: the newest content, if the caller asked for it.
    package mutating func answer(
        to name: LookupKey, with content: LookupContent? = nil, now: Date
    ) -> Result<LookupBody, Problem> {
        let index = records.index(of: name.variant, for: name.app)
        let state = index.map { records[$0].state(now: now) }
        if content == nil, let index, let kept = bodies[index], kept.state == state {
            return .success(kept.body)
        }
        let own = records.filter { $0.isOf(name.app) }
        let variants = own.compactMap(\.variant)
        guard let index else {
            return .failure(own.isEmpty ? name.notFound() : name.notFound(among: variants))
        }
        let record = records[index]
        if record.isOver { return .failure(name.overProblem(with: content)) }
        let lookup = record.lookup(variants: variants, with: content, now: now)
        guard lookup.channelId != nil || lookup.delivery != nil else {
            return .failure(record.pendingProblem(now: now))
        }
        let body = LookupBody(JSONWriter.text(lookup))
        if content == nil { bodies[index] = (lookup.state, body) }
        return .success(body)
    }
}

// MARK: Why a lookup names no channel

/// Seconds for which a cache may reuse a refusal. An event that is over usually stays over; an unknown event may be
/// declared at any moment.
private let (maxAgeOver, maxAgeUnknown) = (10, 5)

extension LookupKey {
    private var scope: String { "\(app.bundleID) in \(app.environment.rawValue)" }

    package func notFound() -> Problem {
        Problem(.eventNotFound, "There is no event \(key) for \(scope).", maxAge: maxAgeUnknown)
    }

    /// - Parameter variants: the variants that the app's audiences in the event have.
    fileprivate func notFound(among variants: [Variant]) -> Problem {
        Problem(.variantNotFound, "\(key) has only other variants for \(scope).", maxAge: maxAgeUnknown) {
            $0.variants = variants.map(\.rawValue)
        }
    }

    /// The event ended, at least for this audience, or was cancelled.
    fileprivate func overProblem(with content: LookupContent?) -> Problem {
        Problem(.eventEnded, "The event \(key) is over for \(scope).", maxAge: maxAgeOver) { body in
            (body.contentState, body.timestamp) = (content?.state, content?.timestamp)
            body.status = 410
        }
    }
}

extension LookupRecord {
    /// The event exists, but its channel does not exist yet.
    ///
    /// A channel is created within two seconds. An opening or an attempt may come earlier than planned, so clients wait
    /// for at most an hour.
    fileprivate func pendingProblem(now: Date) -> Problem {
        let next = max(opensAt ?? now, nextAttemptAt ?? now)
        let retryAfter = Int(min(max(next.timeIntervalSince(now).rounded(.up), 2), 3_600))
        let opens = opensAt ?? now > now ? " It will be made before the event." : ""
        let failed = nextAttemptAt ?? now > now ? " It could not be made (\(reason ?? "refused"))." : ""
        return Problem(
            .channelPending, "The channel of \(key) is not there yet.\(opens)\(failed) Ask again.",
            retryAfter: retryAfter, maxAge: min(retryAfter, maxAgeOver))
    }
}
