internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// One audience of an event, with everything that a lookup's answer depends on except the time.
struct LookupRecord: Sendable, Equatable {
    /// The lowercased bundle ID.
    var topic: String
    var environment: APNsEnvironment
    /// The lane of the audience's messages.
    var lane = 0
    var storagePolicy: StoragePolicy
    /// Apple's ID; `nil` while there is no channel to follow.
    var channelID: String?
    var delivery = Audience.Delivery.channel
    var startsAt: Date?
    var endsAt: Date?
    var firstUpdateAt: Date?
    /// When the event ended for this audience, which may be before the event itself ends.
    var endedAt: Date?
    var cancelledAt: Date?
    var variant: Variant?
    /// The event's fields in lists; `nil`: lists leave the event out.
    var listing: Listing?
    /// Why there is no channel yet. When the opening time passes, nothing is announced until the channel exists or its
    /// creation is refused.
    var wait = ChannelWait()

    /// The fields of an event that lists for apps have and lookups do not have.
    struct Listing: Sendable, Equatable {
        let name: String
        var kind: String?
        var topics: [Topic] = []
    }

    /// The audience of the event with this key as it is at `now`.
    ///
    /// - Parameters:
    ///   - variants: the variants of all of the app's audiences.
    ///   - content: the newest content, if the caller asked for it.
    func lookup(
        of key: EventKey, variants: [Variant] = [], with content: LookupContent? = nil, now: Date
    ) -> Contract.Lookup {
        let hasChannel = delivery != .tokens
        return Contract.Lookup(
            eventKey: key.rawValue, channelId: hasChannel ? channelID : nil,
            // Only audiences that are reached by tokens have `delivery`. Older apps do not know this member, but they
            // look up only events with a channel.
            delivery: hasChannel ? nil : delivery, variant: variant?.rawValue,
            variants: variants.isEmpty ? nil : variants.map(\.rawValue), storagePolicy: .init(storagePolicy),
            state: state(now: now), startsAt: startsAt, endsAt: endsAt, contentState: content?.state,
            timestamp: content?.timestamp)
    }

    /// Whether this audience can no longer follow the event.
    var isOver: Bool { endedAt != nil || cancelledAt != nil }

    func state(now: Date) -> Contract.EventState {
        Contract.EventState(
            startsAt: startsAt, firstUpdateAt: firstUpdateAt, endedAt: endedAt, cancelledAt: cancelledAt, now: now)
    }

    func isOf(_ topic: String, _ environment: APNsEnvironment) -> Bool {
        self.environment == environment && self.topic == topic
    }
}

extension [LookupRecord] {
    /// The app's record with this variant. For `nil`: the record without a variant, else the first that is not over,
    /// else the first. The records must be in the order of their declaration.
    func index(of variant: Variant?, _ topic: String, _ environment: APNsEnvironment) -> Int? {
        var first: Int?
        for index in indices where self[index].isOf(topic, environment) {
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
        records.index(of: name.variant, name.topic, name.environment).map { records[$0] }
    }

    /// The variants of the app's audiences; `nil`: an audience without a variant.
    func variants(of name: LookupName) -> [Variant?] {
        records.filter { $0.isOf(name.topic, name.environment) }.map(\.variant)
    }

    /// The answer to a lookup; `nil` for an app that has no audience in the event.
    ///
    /// - Parameter content: the newest content, if the caller asked for it.
    mutating func answer(to name: LookupName, with content: LookupContent? = nil, now: Date) -> LookupAnswer? {
        let index = records.index(of: name.variant, name.topic, name.environment)
        if content == nil, let index, let kept = bodies[index], kept.state == records[index].state(now: now) {
            return .found(kept.body)
        }
        let variants = self.variants(of: name)
        guard let index else { return variants.isEmpty ? nil : .noSuchVariant(among: variants) }
        let record = records[index]
        if record.isOver { return .over(content) }
        let lookup = record.lookup(of: name.key, variants: variants.compactMap(\.self), with: content, now: now)
        guard lookup.channelId != nil || lookup.delivery != nil else { return .pending(record.wait) }
        let body = LookupBody(JSONWriter.text(lookup))
        if content == nil { bodies[index] = (lookup.state, body) }
        return .found(body)
    }
}
