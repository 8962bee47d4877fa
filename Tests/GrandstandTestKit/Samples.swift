package import APNsWire
package import FoundationEssentials
package import Grandstand
package import GrandstandContract
package import GrandstandServer

// Values with defaults, for tests that need only some of their members.

/// A test used a text that its type does not allow.
package struct BadSample: Error, CustomStringConvertible {
    package let description: String

    static func read<Word: RawRepresentable<String>>(_ text: String) throws -> Word {
        guard let word = Word(rawValue: text) else { throw BadSample(description: "\(text) is not a \(Word.self)") }
        return word
    }
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
        var app = AppSample(bundleID: try BadSample.read(bundleID), date: date)
        (app.draft.channelLimit, app.draft.environments) = (channelLimit, environments)
        return app
    }
}

extension Audience {
    package static func sample(
        _ bundleID: String = "com.example.Goal", _ environment: APNsEnvironment = .production,
        _ storagePolicy: StoragePolicy = .mostRecentMessageStored, variant: String? = nil,
        priority: APNsPriority? = nil
    ) throws -> Audience {
        Audience(
            id: try .sample(bundleID, environment, variant: variant), storagePolicy: storagePolicy, priority: priority)
    }
}

extension AppEnvironment {
    package static func sample(
        _ bundleID: String = "com.example.Goal", _ environment: APNsEnvironment = .production
    ) throws -> AppEnvironment {
        AppEnvironment(bundleID: try BadSample.read(bundleID), environment: environment)
    }
}

extension Audience.ID {
    package static func sample(
        _ bundleID: String = "com.example.Goal", _ environment: APNsEnvironment = .production, variant: String? = nil
    ) throws -> Audience.ID {
        Audience.ID(
            bundleID: try BadSample.read(bundleID), environment: environment,
            variant: try variant.map { try BadSample.read($0) })
    }
}

extension EventKey {
    package static func sample(_ text: String = "match-1") throws -> EventKey { try BadSample.read(text) }
}

extension BundleID {
    package static func sample(_ text: String = "com.example.Goal") throws -> BundleID { try BadSample.read(text) }
}

extension EventSpecification {
    /// An event with one audience. It becomes live with its first update.
    package static func sample(
        _ key: String = "match-1", kind: String? = nil, startsAt: Date? = nil, endsAt: Date? = nil,
        channelsOpenAt: Date? = nil, channelsOpenBefore: Int? = nil, audiences: [Audience]? = nil,
        defaults: Contract.EventDefaults? = nil
    ) throws -> EventSpecification {
        let draft = Contract.EventDraft(
            name: "Argentina – France", kind: kind, startsAt: startsAt, endsAt: endsAt,
            channelsOpenAt: channelsOpenAt, channelsOpenBefore: channelsOpenBefore, audiences: [], defaults: defaults)
        return EventSpecification(key: try .sample(key), draft, audiences: try audiences ?? [.sample()])
    }
}

extension BroadcastRequest {
    /// An update without an alert.
    package static func update(
        _ contentState: String = #"{"score":"1-0"}"#, alert: String? = nil,
        priority: APNsPriority? = nil, expiresIn: Int? = nil, sendAt: Date? = nil,
        audiences: [Audience.ID]? = nil, byVariant: [String: (contentState: String?, alert: String?)] = [:]
    ) -> BroadcastRequest {
        var request = BroadcastRequest(
            payload: BroadcastPayload(
                event: .update, contentState: Array(contentState.utf8), alert: alert.map { Array($0.utf8) }),
            priority: priority, expiresIn: expiresIn, sendAt: sendAt,
            audiences: audiences?.map { AudienceSelector($0) })
        for (name, override) in byVariant {
            request.byVariant[name] = Contract.VariantContent(
                contentState: override.contentState.map { RawJSON(unchecked: $0.utf8) },
                alert: override.alert.map { RawJSON(unchecked: $0.utf8) })
        }
        return request
    }

    /// The last message of an event.
    package static func end(
        _ contentState: String = #"{"score":"3-3","penalties":"4-2"}"#, dismissalDate: Int? = nil,
        expiresIn: Int? = nil, sendAt: Date? = nil, audiences: [Audience.ID]? = nil
    ) -> BroadcastRequest {
        BroadcastRequest(
            payload: BroadcastPayload(
                event: .end, contentState: Array(contentState.utf8), dismissalDate: dismissalDate),
            expiresIn: expiresIn, sendAt: sendAt, audiences: audiences?.map { AudienceSelector($0) })
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
