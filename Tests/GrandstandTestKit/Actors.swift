package import FoundationEssentials
package import Grandstand

// Calls for tests that do not check the audit log or the apps of API keys: the server is the actor and may access
// everything.

extension AppStore {
    @discardableResult
    package func put(_ app: App) async throws -> (app: App, created: Bool) { try await put(app, by: .server) }

    package func apps(_ page: PageRequest) async throws -> Page<App> { try await apps(page, within: .all) }

    package func delete(_ bundleID: BundleID) async throws { try await delete(bundleID, by: .server, now: Date()) }
}

extension EventStore {
    package func put(
        _ specification: EventSpecification, within reach: AppReach, by actor: AuditActor, now: Date
    ) async throws -> (event: Event, created: Bool) {
        try await put(specification, within: reach, by: actor, if: .none, now: now)
    }

    package func put(
        _ specification: EventSpecification, by actor: AuditActor, now: Date
    ) async throws -> (event: Event, created: Bool) {
        try await put(specification, within: .all, by: actor, now: now)
    }

    package func cancel(_ key: EventKey, by actor: AuditActor, now: Date) async throws {
        try await cancel(key, sendingEnd: false, within: .all, by: actor, if: .none, now: now)
    }

    package func put(_ specification: EventSpecification, now: Date) async throws -> (event: Event, created: Bool) {
        try await put(specification, within: .all, by: .server, now: now)
    }

    package func cancel(_ key: EventKey, now: Date) async throws {
        try await cancel(key, sendingEnd: false, within: .all, by: .server, if: .none, now: now)
    }

    package func cancel(_ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date) async throws {
        try await cancel(key, sendingEnd: false, within: reach, by: actor, if: .none, now: now)
    }

    package func reopen(_ key: EventKey, audiences: [AudienceSelector]? = nil, now: Date) async throws -> Reopening {
        try await reopen(key, audiences: audiences, within: .all, by: .server, now: now)
    }
}

extension Outbox {
    package func broadcast(_ id: UUID) async throws -> Broadcast? { try await broadcast(id, within: .all) }

    package func broadcasts(of key: EventKey, _ page: PageRequest) async throws -> Page<Broadcast> {
        try await broadcasts(of: key, within: .all, page)
    }

    package func cancel(
        _ id: UUID, within reach: AppReach = .all, now: Date
    ) async throws -> Bool? {
        try await cancel(id, within: reach, by: .server, now: now)
    }
}

extension BroadcastIntake {
    package init(_ target: BroadcastTarget, request: BroadcastRequest, within reach: AppReach = .all) {
        self.init(target, request: request, by: .server, within: reach)
    }

    package init(eventKey: EventKey, request: BroadcastRequest) {
        self.init(eventKey: eventKey, request: request, by: .server)
    }
}

extension WebhookStore {
    package func replace(
        _ id: UUID, with draft: WebhookDraft, by actor: AuditActor, if condition: WriteCondition, now: Date
    ) async throws -> Webhook? {
        try await replace(id, with: draft, within: WebhookFilter(), by: actor, if: condition, now: now)
    }

    package func test(_ id: UUID, by actor: AuditActor, now: Date) async throws -> WebhookDelivery? {
        try await test(id, within: WebhookFilter(), by: actor, now: now)
    }

    package func replay(_ id: UUID, of webhook: UUID, now: Date) async throws -> WebhookDelivery? {
        try await replay(id, of: webhook, within: WebhookFilter(), now: now)
    }
}

extension KeyLedger {
    package func create(
        name: String, scopes: Set<APIKey.Scope>, bundleID: BundleID?, by actor: AuditActor = .commandLine
    ) async throws -> (key: APIKey, secret: String) {
        let issued = try await create(
            KeyDraft(name: name, scopes: scopes, reach: AppReach(of: bundleID.map { [$0] })), by: actor, now: Date())
        return (issued.key, issued.secret)
    }

    package func keys() async throws -> [APIKey] {
        try await keys(within: .all, PageRequest(limit: 200)).items.map(\.key)
    }

    package func revoke(_ id: UUID, now: Date) async throws -> Bool {
        try await revoke(id, by: .commandLine, now: now)
    }

    package func revoke(_ id: UUID, by actor: AuditActor, now: Date) async throws -> Bool {
        try await revoke(id, disablingWebhooks: false, by: actor, now: now)
    }
}
