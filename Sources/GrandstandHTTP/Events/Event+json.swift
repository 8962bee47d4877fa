internal import APNsWire
internal import FoundationEssentials
package import Grandstand
internal import GrandstandContract
package import JSON

// Converts events between the domain types and the contract's types.

extension EventSpecification {
    /// Reads the body of `PUT /v1/events/{key}`.
    init(key: EventKey, body: JSONValue) throws(Problem) {
        self = try Contract.EventDraft.read(body) { draft, faults throws(Problem) in
            try EventSpecification(key: key, draft, &faults)
        }
        try start?.requireFit(with: defaults)
    }

    private init(key: EventKey, _ draft: Contract.EventDraft, _ faults: inout RequestFaults) throws(Problem) {
        if let startsAt = draft.startsAt, let endsAt = draft.endsAt, endsAt < startsAt {
            faults.add("/endsAt", "endsAt is before startsAt.")
        }
        if draft.channelsOpenBefore != nil, draft.startsAt == nil {
            faults.add("/channelsOpenBefore", "channelsOpenBefore counts from startsAt, which is not there.")
        }
        let audiences = try Self.audiences(draft.audiences, &faults)
        var start: StartDeclaration?
        if let declared = draft.start {
            start = try StartDeclaration(declared, startsAt: draft.startsAt, audiences: audiences, &faults)
        }
        self.init(
            key: key, name: draft.name, kind: draft.kind, startsAt: draft.startsAt, endsAt: draft.endsAt,
            channelsOpenAt: draft.channelsOpenAt, channelsOpenBefore: draft.channelsOpenBefore, audiences: audiences,
            metadata: draft.metadata.map { Array($0.bytes) },
            topics: try (draft.topics ?? []).map { text throws(Problem) in try Topic(allowed: text) }, start: start,
            defaults: try draft.defaults.map(EventDefaults.init) ?? EventDefaults(), content: draft.content)
    }

    private static func audiences(
        _ drafts: [Contract.Audience], _ faults: inout RequestFaults
    ) throws(Problem) -> [Audience] {
        var audiences: [Audience] = []
        var seen: Set<Audience.ID> = []
        for (index, draft) in drafts.enumerated() {
            let audience = try Audience(draft)
            let id = audience.id
            if id.variant != nil, audience.delivery == .tokens {
                faults.add(
                    "/audiences/\(index)/variant",
                    "A variant has a channel of its own. The tokens of an app are one crowd, without variants.")
            }
            if seen.insert(id).inserted {
                audiences.append(audience)
            } else {
                faults.add(
                    "/audiences/\(index)/\(id.variant == nil ? "environment" : "variant")",
                    "\(id.bundleID) in \(id.environment.rawValue)\(id.variant.map { " in variant \($0)" } ?? "") stands "
                        + "twice; an event has one channel for each app, environment and variant, with one policy.")
            }
        }
        return audiences
    }
}

extension Audience {
    fileprivate init(_ draft: Contract.Audience) throws(Problem) {
        self.init(
            id: ID(
                bundleID: try BundleID(allowed: draft.bundleId), environment: try APNsEnvironment(draft.environment),
                variant: try draft.variant.map { text throws(Problem) in try Variant(allowed: text) }),
            storagePolicy: try StoragePolicy(draft.storagePolicy),
            delivery: try draft.delivery.map { word throws(Problem) in try Delivery(word) } ?? .channel,
            priority: try APNsPriority(draft.priority), content: draft.content)
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
        object.member(
            "defaults", specification.defaults.isEmpty ? nil : Contract.EventDefaults(specification.defaults))
        object.member("createdAt", createdAt)
        object.member("updatedAt", updatedAt)
        if let content = specification.content { object.member("content", content) }
        if reopenedAt != nil { object.member("reopenedAt", reopenedAt) }
        if let warnings { object.member("warnings", warnings) }
    }
}

extension Audience.ChannelStatus: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("state", state.rawValue)
        if let channelID { object.member("channelId", channelID) }
        if let reason { object.member("reason", reason) }
        if nextAttemptAt != nil { object.member("nextAttemptAt", nextAttemptAt) }
    }
}
