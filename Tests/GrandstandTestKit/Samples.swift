package import APNsWire
package import FoundationEssentials
package import Grandstand
package import GrandstandContract
package import GrandstandServer

// Values with defaults, for tests that need only some of their members.

private func read<Word: RawRepresentable<String>>(_ text: String) throws -> Word {
    guard let word = Word(rawValue: text) else { throw NeverHappened(what: "\(text) is a \(Word.self)") }
    return word
}

/// An app to be registered, with an invented team and key.
package struct AppSample: Sendable {
    package var bundleID: BundleID
    package var draft = Contract.AppDraft(name: "Goal", teamId: "TEAM123456", keyId: "KEY1234567")
    package var date: Date

    package static func sample(
        _ bundleID: String = "com.example.Goal", channelLimit: Int? = nil, environments: Contract.Overrides? = nil,
        at date: Date = ManualClock().now
    ) throws -> AppSample {
        var app = AppSample(bundleID: try read(bundleID), date: date)
        (app.draft.channelLimit, app.draft.environments) = (channelLimit, environments)
        return app
    }
}

extension Audience {
    package static func sample(
        _ bundleID: String = "com.example.Goal", _ environment: APNsEnvironment = .production,
        _ storagePolicy: StoragePolicy = .mostRecentMessageStored, variant: String? = nil
    ) throws -> Audience {
        Audience(id: try .sample(bundleID, environment, variant: variant), storagePolicy: storagePolicy)
    }
}

extension AppEnvironment {
    package static func sample(
        _ bundleID: String = "com.example.Goal", _ environment: APNsEnvironment = .production
    ) throws -> AppEnvironment {
        AppEnvironment(bundleID: try read(bundleID), environment: environment)
    }
}

extension Audience.ID {
    package static func sample(
        _ bundleID: String = "com.example.Goal", _ environment: APNsEnvironment = .production, variant: String? = nil
    ) throws -> Audience.ID {
        Audience.ID(
            bundleID: try read(bundleID), environment: environment,
            variant: try variant.map { try read($0) })
    }
}

extension EventKey {
    package static func sample(_ text: String = "match-1") throws -> EventKey { try read(text) }
}

extension BundleID {
    package static func sample(_ text: String = "com.example.Goal") throws -> BundleID { try read(text) }
}

extension Contract.EventDraft {
    /// An event with one audience. It becomes live with its first update.
    package static func sample(
        kind: String? = nil, startsAt: Date? = nil, endsAt: Date? = nil,
        channelsOpenAt: Date? = nil, channelsOpenBefore: Int? = nil, audiences: [Audience]? = nil,
        defaults: Contract.EventDefaults? = nil
    ) throws -> Contract.EventDraft {
        Contract.EventDraft(
            name: "Argentina – France", kind: kind, startsAt: startsAt, endsAt: endsAt,
            channelsOpenAt: channelsOpenAt, channelsOpenBefore: channelsOpenBefore,
            audiences: try (audiences ?? [.sample()]).map { Contract.Audience($0) },
            metadata: RawJSON(unchecked: "{}".utf8), topics: [],
            defaults: defaults)
    }
}

extension Contract.Audience {
    /// The audience as a declaration has it.
    package init(_ audience: Audience) {
        self.init(
            bundleId: audience.bundleID.rawValue, environment: .init(audience.environment),
            variant: audience.variant?.rawValue, storagePolicy: .init(audience.storagePolicy),
            delivery: audience.delivery, priority: audience.priority, content: audience.contentType)
    }
}

extension Contract.BroadcastDraft {
    /// An update without an alert.
    package static func update(
        _ contentState: String = #"{"score":"1-0"}"#, alert: String? = nil,
        priority: APNsPriority? = nil, expiresIn: Int? = nil, sendAt: Date? = nil,
        audiences: [Audience.ID]? = nil, byVariant: [String: (contentState: String?, alert: String?)] = [:]
    ) -> Self {
        func raw(_ text: String?) -> RawJSON? { text.map { RawJSON(unchecked: $0.utf8) } }
        let ofVariants = byVariant.mapValues {
            Contract.VariantContent(contentState: raw($0.contentState), alert: raw($0.alert))
        }
        return Self(
            event: .update, contentState: raw(contentState), alert: raw(alert),
            byVariant: ofVariants.isEmpty ? nil : ofVariants, audiences: audiences?.map { .init($0) },
            priority: priority?.rawValue, expiresIn: expiresIn, sendAt: sendAt.map { .at($0) })
    }

    /// The last message of an event.
    package static func end(
        _ contentState: String = #"{"score":"3-3","penalties":"4-2"}"#, dismissalDate: Int? = nil,
        expiresIn: Int? = nil, sendAt: Date? = nil, audiences: [Audience.ID]? = nil
    ) -> Self {
        Self(
            event: .end, contentState: RawJSON(unchecked: contentState.utf8),
            audiences: audiences?.map { .init($0) }, expiresIn: expiresIn,
            dismissalDate: dismissalDate.map { Date(timeIntervalSince1970: Double($0)) },
            sendAt: sendAt.map { .at($0) })
    }
}

extension APNsRefusal {
    /// APNs' refusal for a channel that does not exist.
    package static let channelGone = APNsRefusal(status: 400, reason: .channelNotRegistered)
    /// A refusal that a repetition cannot change.
    package static let badRequest = APNsRefusal(status: 400, reason: .badPriority)
}

// Calls for tests that do not check the audit log or the apps of API keys: the server is the actor and may access
// everything.

extension AppStore {
    @discardableResult
    package func put(
        _ app: AppSample, by actor: AuditActor = .server, if condition: WriteCondition = .none
    ) async throws -> (app: Versioned<Contract.App>, created: Bool) {
        try await put(app.bundleID, app.draft, by: actor, if: condition, now: app.date)
    }

    package func apps(_ page: PageRequest) async throws -> Contract.AppPage { try await apps(page, within: .all) }

    package func delete(_ bundleID: BundleID) async throws { try await delete(bundleID, by: .server, now: Date()) }
}

extension KeyStore {
    package func create(
        name: String, scopes: Set<Contract.Scope>, bundleID: BundleID?, by actor: AuditActor = .commandLine
    ) async throws -> (key: APIKey, secret: String) {
        let issued = try await create(
            Contract.KeyDraft(name: name, scopes: Array(scopes), bundleId: bundleID?.rawValue), by: actor)
        let key = APIKey(
            id: UUID(uuidString: issued.id) ?? UUID(), name: name, scopes: scopes,
            reach: AppReach(of: bundleID.map { [$0] }))
        return (key, issued.secret ?? "")
    }

    package func keys() async throws -> [Contract.Key] {
        try await keys(within: .all, PageRequest(limit: 200)).items
    }
}
