package import FoundationEssentials
package import Grandstand
internal import HTTPTypes
package import Hummingbird

/// `/console`: pages for the people who run it. They read through the
/// ports the API reads through, and act through the API itself.
package struct Console: Sendable {
    package typealias Activity = @Sendable (AppReach, Date) async throws -> ConsoleActivity
    package typealias Watch =
        @Sendable (
            _ request: Request, _ subject: LiveSubject, _ key: APIKey,
            _ isAdmitted: @escaping @Sendable () async -> Bool
        ) throws -> Response

    package struct Dependencies: Sendable {
        package var apps: any AppStore
        package var channels: any ChannelStore
        package var events: any EventStore
        package var outbox: any Outbox
        package var quirks: any QuirkStore
        package var auditLog: any AuditLog
        package var reconciliations: any ReconciliationStore
        package var starts: any StartStore
        package var gateway: any APNsGateway
        package var sessions: any ConsoleSessionStore
        package var keys: any KeyDirectory
        package var quotaHistory: any QuotaHistoryStore
        /// The apps that APNs throttles.
        package var throttles: @Sendable (Date) async throws -> [Throttle] = { _ in [] }
        /// What goes on now, as far as a key reaches.
        package var activity: Activity
        /// Tells a page's script of an event's changes.
        package var watch: Watch
        /// How long events hold their channels, for the quota's forecast.
        package var tenure: ChannelTenure
        /// HTTPS: the cookie never travels without it.
        package var isSecure: Bool
        package var now: @Sendable () -> Date

        package init(
            apps: any AppStore, channels: any ChannelStore, events: any EventStore, outbox: any Outbox,
            quirks: any QuirkStore, auditLog: any AuditLog, reconciliations: any ReconciliationStore,
            starts: any StartStore,
            gateway: any APNsGateway, sessions: any ConsoleSessionStore, keys: any KeyDirectory,
            quotaHistory: any QuotaHistoryStore,
            activity: @escaping Activity, watch: @escaping Watch,
            tenure: ChannelTenure, isSecure: Bool, now: @escaping @Sendable () -> Date
        ) {
            self.apps = apps
            self.channels = channels
            self.events = events
            self.outbox = outbox
            self.quirks = quirks
            self.auditLog = auditLog
            self.reconciliations = reconciliations
            self.starts = starts
            self.gateway = gateway
            self.sessions = sessions
            self.keys = keys
            self.quotaHistory = quotaHistory
            self.activity = activity
            self.watch = watch
            self.tenure = tenure
            self.isSecure = isSecure
            self.now = now
        }
    }

    /// Where the pages are.
    package static let path = "/console"

    private let dependencies: Dependencies
    private let templates: ConsoleTemplates

    package init(_ dependencies: Dependencies, templates: ConsoleTemplates) {
        self.dependencies = dependencies
        self.templates = templates
    }

    /// What answers requests for `path` and all below it.
    package func responder() -> some HTTPResponder<ConsoleContext> { responder(adding: []) }

    /// - Parameter others: actions of a test's own.
    func responder(adding others: [ActionRoute]) -> some HTTPResponder<ConsoleContext> {
        let d = dependencies
        let sessions = Sessions(store: d.sessions, keys: d.keys, now: d.now)
        let responder = PageResponder(
            templates: templates, sessions: sessions, isSecure: d.isSecure, now: d.now)
        let router = Router(context: ConsoleContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ErrorPages(responder: responder))
        SignInRoutes(responder: responder).add(to: router)
        AssetRoutes().add(to: router)
        LiveRoute(responder: responder, events: d.events, watch: d.watch).add(to: router)
        for route in groups.flatMap(\.routes) {
            router.on(RouterPath(route.path), method: .get) { request, context in
                await responder.show(route, request, context)
            }
        }
        for route in groups.flatMap(\.actions) + others {
            router.on(RouterPath(route.path), method: .post) { request, context in
                await responder.act(route, request, context)
            }
        }
        return router.buildResponder()
    }

    private var groups: [any RouteGroup] {
        let d = dependencies
        let reader = EventReader(
            apps: d.apps, events: d.events, outbox: d.outbox, starts: d.starts, throttles: d.throttles)
        return [
            OverviewRoute(
                channels: d.channels, events: d.events, history: d.quotaHistory, activity: d.activity, tenure: d.tenure),
            EventRoutes(reader: reader), ComposerRoutes(reader: reader), EventActionRoutes(reader: reader),
            SeasonRoutes(
                apps: d.apps, channels: d.channels, events: d.events, tenure: d.tenure),
            AppRoutes(apps: d.apps, quirks: d.quirks, gateway: d.gateway),
            ChannelRoutes(apps: d.apps, channels: d.channels), ChannelActionRoutes(apps: d.apps, channels: d.channels),
            // Before the reports, whose IDs are in the same place.
            ReconciliationActionRoutes(apps: d.apps), ReconciliationRoutes(apps: d.apps, store: d.reconciliations),
            KeyRoutes(), WebhookRoutes(), AuditRoute(log: d.auditLog),
        ]
    }
}
