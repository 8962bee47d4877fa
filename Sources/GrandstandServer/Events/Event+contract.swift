internal import APNsWire
internal import FoundationEssentials
package import Grandstand
internal import GrandstandContract
internal import JSON

// Converts events between the domain types and the contract's types.

/// Documents of events in the format that `PUT /v1/events/{key}` takes and `GET` returns. So a calendar entry may declare
/// everything that the API allows.
extension EventDocument {
    /// The declaration. A document of this declaration is read as the same declaration again.
    package init(of specification: EventSpecification) {
        let epoch = Date(timeIntervalSince1970: 0)
        let event = Contract.Event(
            specification, state: .scheduled, channels: specification.audiences.map { _ in .init(state: .none) },
            createdAt: epoch, updatedAt: epoch)
        self.init(of: event)
    }

    /// The declaration of an event.
    init(of event: Contract.Event) {
        let shown = try? JSONValue(parsing: JSONWriter.text(event))
        self = shown.map(EventDocument.init(shown:)) ?? EventDocument()
    }

    /// Reads the document as a declaration of the event `key`.
    ///
    /// - Throws: `invalid-request`, `unknown-field`, with pointers into the document.
    package func declaration(of key: EventKey) throws(Problem) -> EventSpecification {
        try EventSpecification(key: key, body: try JSONValue(parsing: text))
    }
}

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
        var start: Contract.Start?
        if let declared = draft.start {
            start = try Contract.Start(declared, startsAt: draft.startsAt, audiences: audiences, &faults)
        }
        self.init(
            key: key, name: draft.name, kind: draft.kind, startsAt: draft.startsAt, endsAt: draft.endsAt,
            channelsOpenAt: draft.channelsOpenAt, channelsOpenBefore: draft.channelsOpenBefore, audiences: audiences,
            metadata: draft.metadata?.array,
            topics: try (draft.topics ?? []).map { text throws(Problem) in try Topic(allowed: text) }, start: start,
            defaults: draft.defaults ?? .init(), content: draft.content)
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
            delivery: draft.delivery ?? .channel,
            priority: try APNsPriority(draft.priority), content: draft.content)
    }
}

extension Contract.EventAudience {
    init(_ audience: Audience, _ channel: Contract.AudienceChannel) {
        self.init(
            bundleId: audience.bundleID.rawValue, environment: .init(audience.environment),
            variant: audience.variant?.rawValue, storagePolicy: .init(audience.storagePolicy),
            delivery: audience.delivery, priority: audience.priority?.rawValue, content: audience.content,
            channel: channel)
    }
}

extension Contract.Event {
    /// - Parameter channels: the channels' states, in the order of the declared audiences.
    init(
        _ declared: EventSpecification, state: Contract.EventState, channels: [Contract.AudienceChannel],
        createdAt: Date, updatedAt: Date, reopenedAt: Date? = nil
    ) {
        self.init(
            key: declared.key.rawValue, name: declared.name, kind: declared.kind, state: state,
            startsAt: declared.startsAt, endsAt: declared.endsAt, channelsOpenAt: declared.channelsOpenAt,
            channelsOpenBefore: declared.channelsOpenBefore,
            audiences: zip(declared.audiences, channels).map { Contract.EventAudience($0, $1) },
            metadata: RawJSON(unchecked: declared.metadata ?? Array("{}".utf8)),
            topics: declared.topics.map(\.rawValue), start: declared.start,
            defaults: declared.defaults.isEmpty ? nil : declared.defaults,
            createdAt: createdAt, updatedAt: updatedAt, content: declared.content, reopenedAt: reopenedAt)
    }

    /// The key as rules need it.
    var eventKey: EventKey {
        guard let key = EventKey(rawValue: key) else { preconditionFailure("\(key) is not the key of an event") }
        return key
    }

    /// When channels are created; `nil`: at once.
    var opensAt: Date? {
        EventSpecification.opensAt(channelsOpenAt, before: channelsOpenBefore, startsAt: startsAt)
    }

    /// The apps of the audiences.
    var apps: Set<BundleID> { Set(audiences.compactMap { BundleID(rawValue: $0.bundleId) }) }

    var isOver: Bool { state.isOver }
}
