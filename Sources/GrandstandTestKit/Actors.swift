package import FoundationEssentials
package import Grandstand

// Calls of tests that do not look at the audit log: the server acts.

extension AppStore {
    @discardableResult
    package func put(_ app: App) async throws -> (app: App, created: Bool) { try await put(app, by: .server) }

    package func delete(_ bundleID: BundleID) async throws { try await delete(bundleID, by: .server, now: Date()) }
}

extension EventStore {
    package func put(_ specification: EventSpecification, now: Date) async throws -> (event: Event, created: Bool) {
        try await put(specification, by: .server, now: now)
    }

    package func cancel(_ key: EventKey, now: Date) async throws { try await cancel(key, by: .server, now: now) }
}

extension BroadcastIntake {
    package init(_ target: BroadcastTarget, request: BroadcastRequest) {
        self.init(target, request: request, by: .server)
    }

    package init(eventKey: EventKey, request: BroadcastRequest) {
        self.init(eventKey: eventKey, request: request, by: .server)
    }
}

extension Outbox {
    package func cancel(_ id: UUID, now: Date) async throws -> Bool? { try await cancel(id, by: .server, now: now) }
}

extension KeyStore {
    package func create(
        name: String, scopes: Set<APIKey.Scope>, bundleID: BundleID?
    ) async throws -> (key: APIKey, secret: String) {
        try await create(name: name, scopes: scopes, bundleID: bundleID, by: .commandLine)
    }

    package func revoke(_ id: UUID, now: Date) async throws -> Bool {
        try await revoke(id, by: .commandLine, now: now)
    }
}
