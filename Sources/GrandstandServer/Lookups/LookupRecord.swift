internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The app and environment that lookups and lists are for.
struct LookupApp: Sendable, Hashable {
    /// As the caller wrote it.
    let bundleID: BundleID
    let environment: APNsEnvironment
    /// The lowercased bundle ID.
    let topic: String

    init(_ bundleID: BundleID, _ environment: APNsEnvironment) {
        (self.bundleID, self.environment, topic) = (bundleID, environment, bundleID.topic)
    }
}

/// The subject of a lookup: an event, for an app, in one of its variants.
struct LookupName: Sendable {
    let app: LookupApp
    let key: EventKey
    /// `nil`: the audience without a variant, else the first that is not over.
    var variant: Variant?
}

/// The newest content of an audience, and the `aps.timestamp` of the message with this content.
struct LookupContent: Sendable {
    let state: RawJSON
    let timestamp: Int
}

/// The JSON text of an answer, with its entity tag.
struct LookupBody: Sendable, Equatable {
    let bytes: [UInt8]
    let tag: EntityTag

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        tag = EntityTag(of: bytes)
    }
}

/// One audience of an event, with everything that a lookup's answer depends on except the time. Its members are the
/// columns of `LookupStore.records`.
struct LookupRecord: Sendable, Equatable, Decodable {
    var key: EventKey
    /// The lowercased bundle ID.
    var topic: String
    var environment: APNsEnvironment
    /// The lane of the audience's messages.
    var lane = 0
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
    var isOver: Bool { endedAt != nil || cancelledAt != nil }

    func state(now: Date) -> Contract.EventState {
        Contract.EventState(
            startsAt: startsAt, firstUpdateAt: firstUpdateAt, endedAt: endedAt, cancelledAt: cancelledAt, now: now)
    }

    func isOf(_ app: LookupApp) -> Bool { environment == app.environment && topic == app.topic }
}

extension [LookupRecord] {
    /// The app's record with this variant. For `nil`: the record without a variant, else the first that is not over,
    /// else the first. The records must be in the order of their declaration.
    func index(of variant: Variant?, for app: LookupApp) -> Int? {
        var first: Int?
        for index in indices where self[index].isOf(app) {
            if self[index].variant == variant { return index }
            if first.map({ self[$0].isOver && !self[index].isOver }) ?? true { first = index }
        }
        return variant == nil ? first : nil
    }
}

/// An event in memory.
struct LookupEntry: Sendable {
    /// The records of the event's audiences, in the order of their declaration.
    let records: [LookupRecord]
    /// The bodies that were asked for, by the index of their record, each with the state that it shows. A body depends
    /// on the time only by this state.
    private var bodies: [Int: (state: Contract.EventState, body: LookupBody)] = [:]

    init(_ records: [LookupRecord]) { self.records = records }

    /// The record that answers a lookup.
    func record(of name: LookupName) -> LookupRecord? {
        records.index(of: name.variant, for: name.app).map { records[$0] }
    }

    /// The variants of the app's audiences; `nil`: an audience without a variant.
    func variants(of name: LookupName) -> [Variant?] {
        records.filter { $0.isOf(name.app) }.map(\.variant)
    }

    /// The answer to a lookup.
    ///
    /// - Parameter content: the newest content, if the caller asked for it.
    mutating func answer(
        to name: LookupName, with content: LookupContent? = nil, now: Date
    ) -> Result<LookupBody, Problem> {
        let index = records.index(of: name.variant, for: name.app)
        if content == nil, let index, let kept = bodies[index], kept.state == records[index].state(now: now) {
            return .success(kept.body)
        }
        let variants = self.variants(of: name)
        guard let index else { return .failure(name.missing(among: variants)) }
        let record = records[index]
        if record.isOver { return .failure(name.over(with: content)) }
        let lookup = record.lookup(variants: variants.compactMap(\.self), with: content, now: now)
        guard lookup.channelId != nil || lookup.delivery != nil else { return .failure(record.pending(now: now)) }
        let body = LookupBody(JSONWriter.text(lookup))
        if content == nil { bodies[index] = (lookup.state, body) }
        return .success(body)
    }
}

// MARK: Why a lookup names no channel

/// Seconds for which a cache may reuse a refusal. An event that is over usually stays over; an unknown event may be
/// declared at any moment.
private let (maxAgeOver, maxAgeUnknown) = (10, 5)

extension LookupName {
    private var audience: String {
        "\(app.bundleID) in \(app.environment.rawValue)\(variant.map { " in variant \($0)" } ?? "")"
    }

    /// - Parameter variants: the variants that the app's audiences in the event have.
    func missing(among variants: [Variant?] = []) -> Problem {
        guard !variants.isEmpty else {
            return Problem(.eventNotFound, "There is no event \(key) for \(audience).", maxAge: maxAgeUnknown)
        }
        let names = variants.compactMap { $0?.rawValue }
        let others = names + (variants.contains(nil) ? ["an audience without a variant"] : [])
        return Problem(
            .variantNotFound,
            "The event \(key) has nothing for \(audience); it has \(others.joined(separator: ", ")) there.",
            maxAge: maxAgeUnknown
        ) { $0.variants = names }
    }

    /// The event ended, at least for this audience, or was cancelled.
    fileprivate func over(with content: LookupContent?) -> Problem {
        Problem(
            .eventEnded, "The event \(key) is over for \(audience); there is nothing to follow.", maxAge: maxAgeOver
        ) { body in
            (body.contentState, body.timestamp, body.status) = (content?.state, content?.timestamp, 410)
        }
    }
}

extension LookupRecord {
    /// The event exists, but its channel does not exist yet.
    ///
    /// A channel is created within two seconds. An opening or an attempt may come earlier than planned, so clients wait
    /// for at most an hour.
    fileprivate func pending(now: Date) -> Problem {
        let next = max(opensAt ?? now, nextAttemptAt ?? now)
        let retryAfter = Int(min(max(next.timeIntervalSince(now).rounded(.up), 2), 3_600))
        var detail = "The channel of \(key) is being made. Ask again."
        if let opensAt, opensAt > now {
            detail = "The channel of \(key) will be made before the event. Ask again."
        } else if let nextAttemptAt, nextAttemptAt > now {
            detail =
                "The channel of \(key) could not be made: \(cause). The next attempt is at "
                + "\(RFC3339.text(nextAttemptAt)). Ask again then."
        }
        return Problem(.channelPending, detail, retryAfter: retryAfter, maxAge: min(retryAfter, maxAgeOver))
    }

    private var cause: String {
        guard let reason else { return "APNs refused it" }
        if reason == Problem.Kind.quotaExhausted.rawValue { return "the app has no channel left" }
        return switch APNsReason(rawValue: reason) {
        case .cannotCreateChannelConfig: "APNs has no channel left for the app"
        case .broadcastFeatureNotEnabled: "Apple's broadcast capability is off for the app"
        default: "APNs refused it (\(reason))"
        }
    }
}
