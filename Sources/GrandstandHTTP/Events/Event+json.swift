internal import APNsWire
internal import FoundationEssentials
package import Grandstand
package import JSON

// The JSON of events and their audiences, read and written: a member of either has its two places in this file.

extension EventSpecification {
    /// Reads the body of `PUT /v1/events/{key}`.
    init(key: EventKey, body: JSONValue) throws(Problem) {
        var fields = JSONFields(body)
        let name = fields.text("name", required: true)
        let kind = fields.text("kind", maximum: 64)
        let startsAt = fields.date("startsAt")
        let endsAt = fields.date("endsAt")
        let (channelsOpenAt, channelsOpenBefore) = Self.opening(&fields, startsAt: startsAt)
        let metadata = fields.object("metadata")
        if let startsAt, let endsAt, endsAt < startsAt { fields.fault("endsAt", "endsAt is before startsAt.") }
        let audiences = Self.audiences(&fields)
        let topics = fields.topics()
        let start = StartDeclaration.read(&fields, startsAt: startsAt, audiences: audiences)
        let defaults = Self.defaults(&fields)
        let content = fields.contentType()
        try fields.finish()
        try start?.requireFit(with: defaults)
        self.init(
            key: key, name: name ?? "", kind: kind, startsAt: startsAt, endsAt: endsAt, channelsOpenAt: channelsOpenAt,
            channelsOpenBefore: channelsOpenBefore, audiences: audiences, metadata: metadata, topics: topics,
            start: start, defaults: defaults, content: content)
    }

    private static func audiences(_ fields: inout JSONFields) -> [Audience] {
        var audiences: [Audience] = []
        var seen: Set<Audience.ID> = []
        for (value, pointer) in fields.array("audiences", required: true, count: 1...1_000) ?? [] {
            var nested = JSONFields(value, pointer: pointer)
            let bundleID = nested.bundleID("bundleId")
            let environment = nested.choice("environment", APNsEnvironment.self, required: true)
            let policy = nested.choice("storagePolicy", StoragePolicy.self, required: true)
            let variant = nested.variant()
            let delivery = nested.choice("delivery", Audience.Delivery.self) ?? .channel
            let priority = nested.priority()
            let content = nested.contentType()
            if variant != nil, delivery == .tokens {
                nested.fault(
                    "variant",
                    "A variant has a channel of its own. The tokens of an app are one crowd, without variants.")
            }
            if let bundleID, let environment, let policy {
                let audience = Audience(
                    id: Audience.ID(bundleID: bundleID, environment: environment, variant: variant),
                    storagePolicy: policy, delivery: delivery, priority: priority, content: content)
                if seen.insert(audience.id).inserted {
                    audiences.append(audience)
                } else {
                    nested.fault(
                        variant == nil ? "environment" : "variant",
                        "\(bundleID) in \(environment.rawValue)\(variant.map { " in variant \($0)" } ?? "") stands twice; "
                            + "an event has one channel for each app, environment and variant, with one policy.")
                }
            }
            fields.absorb(nested)
        }
        return audiences
    }

    /// When channels open: a time, or so long before the beginning.
    private static func opening(_ fields: inout JSONFields, startsAt: Date?) -> (at: Date?, before: Int?) {
        let at = fields.date("channelsOpenAt")
        let before = fields.integer("channelsOpenBefore", in: 0...maximumOpenBefore)
        if at != nil, before != nil {
            fields.fault(
                "channelsOpenBefore", "channelsOpenAt and channelsOpenBefore exclude each other; send one of them.")
        }
        if before != nil, startsAt == nil {
            fields.fault("channelsOpenBefore", "channelsOpenBefore counts from startsAt, which is not there.")
        }
        return (at, before)
    }

    /// What messages of it have that say nothing themselves.
    private static func defaults(_ fields: inout JSONFields) -> EventDefaults {
        guard var nested = fields.fields("defaults") else { return EventDefaults() }
        let defaults = EventDefaults(&nested)
        fields.absorb(nested)
        return defaults
    }
}

extension Event: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("key", specification.key.rawValue)
        object.member("name", specification.name)
        object.member("kind", specification.kind)
        object.member("state", state.rawValue)
        object.member("startsAt", specification.startsAt)
        object.member("endsAt", specification.endsAt)
        object.member("channelsOpenAt", specification.channelsOpenAt)
        object.member("channelsOpenBefore", specification.channelsOpenBefore)
        object.objects("audiences", zip(specification.audiences, channels)) { audience, pair in
            audience.member("bundleId", pair.0.bundleID.rawValue)
            audience.member("environment", pair.0.environment.rawValue)
            if let variant = pair.0.variant { audience.member("variant", variant.rawValue) }
            audience.member("storagePolicy", pair.0.storagePolicy.rawValue)
            audience.member("delivery", pair.0.delivery.rawValue)
            if let priority = pair.0.priority { audience.member("priority", priority.rawValue) }
            if let content = pair.0.content { audience.member("content", content) }
            audience.member("channel", Optional(pair.1))
        }
        object.member("metadata", raw: specification.metadata ?? Array("{}".utf8))
        object.member("topics", specification.topics.map(\.rawValue))
        object.member("start", specification.start)
        object.member("defaults", specification.defaults.isEmpty ? nil : specification.defaults)
        object.member("createdAt", createdAt)
        object.member("updatedAt", updatedAt)
        if let content = specification.content { object.member("content", content) }
        if reopenedAt != nil { object.member("reopenedAt", reopenedAt) }
        if let warnings { object.member("warnings", warnings) }
    }
}

extension JSONFields {
    /// The name of a content type.
    fileprivate mutating func contentType() -> String? { text("content", maximum: 128) }
}

extension Audience.ChannelStatus: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("state", state.rawValue)
        if let channelID { object.member("channelId", channelID) }
        if let reason { object.member("reason", reason) }
        if nextAttemptAt != nil { object.member("nextAttemptAt", nextAttemptAt) }
    }
}
