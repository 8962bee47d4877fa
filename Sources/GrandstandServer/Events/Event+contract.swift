internal import APNsWire
internal import FoundationEssentials
package import Grandstand
package import GrandstandContract
internal import JSON

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
        if let startsAt = draft.startsAt, let endsAt = draft.endsAt, endsAt <= startsAt {
            faults.add(
                "/endsAt",
                "endsAt is not after startsAt, \(RFC3339.text(startsAt)). Leave it out if nobody knows the end.")
        }
        let audiences = try Self.audiences(draft.audiences, &faults)
        var start: StartDeclaration?
        if let declared = draft.start {
            start = try StartDeclaration(declared, startsAt: draft.startsAt, audiences: audiences, &faults)
        }
        self.init(
            key: key, name: draft.name, kind: draft.kind, startsAt: draft.startsAt, endsAt: draft.endsAt,
            channelsOpenAt: draft.channelsOpenAt, channelsOpenBefore: draft.channelsOpenBefore, audiences: audiences,
            metadata: draft.metadata?.array,
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
                    "An audience that is reached by tokens has no variants, because a variant needs a channel of "
                        + "its own. Leave variant out."
                )
            }
            if seen.insert(id).inserted {
                audiences.append(audience)
            } else {
                faults.add(
                    "/audiences/\(index)/\(id.variant == nil ? "environment" : "variant")",
                    "\(id.bundleID) in \(id.environment.rawValue)\(id.variant.map { " in variant \($0)" } ?? "") is "
                        + "listed twice; an event has one channel for each app, environment and variant, with one "
                        + "policy.")
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

extension Contract.Event {
    package init(_ event: Event) {
        let declared = event.specification
        self.init(
            key: declared.key.rawValue, name: declared.name, kind: declared.kind, state: .init(event.state),
            startsAt: declared.startsAt, endsAt: declared.endsAt, channelsOpenAt: declared.channelsOpenAt,
            channelsOpenBefore: declared.channelsOpenBefore,
            audiences: zip(declared.audiences, event.channels).map(Contract.EventAudience.init),
            metadata: RawJSON(unchecked: declared.metadata ?? Array("{}".utf8)),
            topics: declared.topics.map(\.rawValue), start: declared.start.map(Contract.Start.init),
            defaults: declared.defaults.isEmpty ? nil : Contract.EventDefaults(declared.defaults),
            createdAt: event.createdAt, updatedAt: event.updatedAt, content: declared.content,
            reopenedAt: event.reopenedAt, warnings: event.warnings)
    }
}

extension Contract.EventAudience {
    fileprivate init(_ audience: Audience, _ channel: Audience.ChannelStatus) {
        self.init(
            bundleId: audience.bundleID.rawValue, environment: .init(audience.environment),
            variant: audience.variant?.rawValue, storagePolicy: .init(audience.storagePolicy),
            delivery: .init(audience.delivery), priority: audience.priority?.rawValue, content: audience.content,
            channel: Contract.AudienceChannel(
                state: .init(channel.state), channelId: channel.channelID, reason: channel.reason,
                nextAttemptAt: channel.nextAttemptAt))
    }
}

extension Contract.ReopenedEvent {
    init(_ reopening: Reopening) {
        self.init(
            channels: reopening.parts.map { part in
                Contract.ReopenedChannel(
                    bundleId: part.audience.bundleID.rawValue, environment: .init(part.audience.environment),
                    variant: part.audience.variant?.rawValue, channel: .init(part.outcome))
            }, broadcasts: reopening.broadcasts.map(\.words), warnings: reopening.warnings,
            Contract.Event(reopening.event))
    }
}
