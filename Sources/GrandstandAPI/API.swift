package import FoundationEssentials
package import Grandstand
package import GrandstandService
package import Hummingbird

/// The HTTP API: its routes over the ports they need.
package struct API: Sendable {
    package struct Dependencies: Sendable {
        package var apps: any AppStore
        package var channels: any ChannelStore
        package var events: any EventStore
        package var lookups: LookupReplica
        package var outbox: any Outbox
        package var keys: any KeyStore
        package var keyMemory: any KeyMemory
        package var quirks: any QuirkStore
        package var auditLog: any AuditLog
        package var reconciliations: any ReconciliationStore
        package var gateway: any APNsGateway
        package var desk: ChannelDesk
        package var reconciliationDesk: ReconciliationDesk
        /// What a reconciliation by hand may delete at most, and when.
        package var reconciliationLimits: (grace: TimeInterval, deleteBudget: Int)
        package var intake: Intake
        package var readiness: @Sendable () async -> Readiness
        /// Seconds an ended event's channel is kept, for the quota's forecast.
        package var retireAfter: TimeInterval
        package var now: @Sendable () -> Date

        package init(
            apps: any AppStore, channels: any ChannelStore, events: any EventStore, lookups: LookupReplica,
            outbox: any Outbox, keys: any KeyStore, keyMemory: any KeyMemory, quirks: any QuirkStore,
            auditLog: any AuditLog, reconciliations: any ReconciliationStore, gateway: any APNsGateway,
            desk: ChannelDesk,
            reconciliationDesk: ReconciliationDesk,
            reconciliationLimits: (grace: TimeInterval, deleteBudget: Int), intake: Intake,
            readiness: @escaping @Sendable () async -> Readiness, retireAfter: TimeInterval,
            now: @escaping @Sendable () -> Date
        ) {
            self.apps = apps
            self.channels = channels
            self.events = events
            self.lookups = lookups
            self.outbox = outbox
            self.keys = keys
            self.keyMemory = keyMemory
            self.quirks = quirks
            self.auditLog = auditLog
            self.reconciliations = reconciliations
            self.gateway = gateway
            self.desk = desk
            self.reconciliationDesk = reconciliationDesk
            self.reconciliationLimits = reconciliationLimits
            self.intake = intake
            self.readiness = readiness
            self.retireAfter = retireAfter
            self.now = now
        }
    }

    private let dependencies: Dependencies

    package init(_ dependencies: Dependencies) { self.dependencies = dependencies }

    /// What answers requests, for a server to run.
    package func responder() -> some HTTPResponder<APIContext> {
        table.router(keys: dependencies.keys).buildResponder()
    }

    /// What answers lookups ahead of it, for a server to put into each connection's pipeline.
    package func lookupDesk() -> LookupDesk {
        LookupDesk(replica: dependencies.lookups, keys: dependencies.keyMemory, now: dependencies.now)
    }

    var table: RouteTable {
        let d = dependencies
        return RouteTable(
            routes: AppRoutes(apps: d.apps, quirks: d.quirks, gateway: d.gateway, now: d.now).routes
                + QuirkRoutes(apps: d.apps, quirks: d.quirks, now: d.now).routes
                + ChannelRoutes(channels: d.channels, desk: d.desk).routes
                + ReconciliationRoutes(
                    store: d.reconciliations, desk: d.reconciliationDesk, limits: d.reconciliationLimits
                ).routes
                + AuditRoutes(log: d.auditLog).routes
                + EventRoutes(events: d.events, now: d.now).routes
                + BroadcastRoutes(
                    events: d.events, channels: d.channels, outbox: d.outbox, intake: d.intake, now: d.now
                ).routes
                + LookupRoutes(events: d.events, replica: d.lookups, now: d.now).routes
                + QuotaRoutes(channels: d.channels, retireAfter: d.retireAfter, now: d.now).routes
                + HealthRoutes(readiness: d.readiness).routes)
    }
}
