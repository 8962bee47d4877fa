internal import FoundationEssentials
internal import Grandstand
internal import HTTPTypes
internal import Hummingbird

/// `/console`: pages for people. They perform the API's operations with the key that is signed in.
struct Console: Sendable {
    typealias Activity = @Sendable (AppReach, Date) async throws -> ConsoleActivity

    /// The sources that pages need and the API does not.
    struct Sources: Sendable {
        var sessions: ConsoleSessionStore
        /// The apps that APNs throttles now.
        var throttles: @Sendable (Date) async throws -> [Throttle]
        /// The present activity, restricted to the apps of a key.
        var activity: Activity
    }

    /// The path of all pages.
    static let path = "/console"

    private let api: API
    private let sources: Sources
    private let templates: ConsoleTemplates

    init(_ api: API, _ sources: Sources, templates: ConsoleTemplates) {
        self.api = api
        self.sources = sources
        self.templates = templates
    }

    /// The responder for `path` and everything below it.
    func responder() -> some HTTPResponder<ConsoleContext> { responder(adding: []) }

    /// - Parameter others: more actions, for tests.
    func responder(adding others: [ActionRoute]) -> some HTTPResponder<ConsoleContext> {
        let sessions = Sessions(store: sources.sessions, keys: api.keys, now: api.now)
        let responder = PageResponder(
            templates: templates, sessions: sessions, isSecure: api.isSecure, now: api.now)
        let router = Router(context: ConsoleContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ErrorPages(responder: responder))
        SignInPages(responder: responder).add(to: router)
        AssetRoutes().add(to: router)
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

    private var groups: [any PageGroup] {
        let stores = api.stores
        let tenure = api.configuration.tenure
        let reader = EventReader(
            apps: stores.apps, events: stores.events, outbox: stores.outbox, starts: stores.starts,
            throttles: sources.throttles)
        return [
            OverviewPages(
                channels: stores.channels, events: stores.events, history: stores.quotaHistory,
                activity: sources.activity,
                tenure: tenure),
            EventPages(reader: reader, log: stores.auditLog),
            ComposerPages(reader: reader, api: api),
            NewEventPages(apps: stores.apps),
        ] + Resource.all.map { ResourcePages(resource: $0) as any PageGroup }
    }
}
