internal import FoundationEssentials
internal import Grandstand
internal import HTTPTypes
internal import Hummingbird

/// `/console`: pages for people. They perform the API's operations with the key that is signed in.
struct Console: Sendable {
    /// Returns the present activity, restricted to the apps of a key.
    typealias Activity = @Sendable (AppReach, Date) async throws -> ConsoleActivity

    /// The path of all pages.
    static let path = "/console"

    let api: API
    let activity: Activity
    let templates: ConsoleTemplates

    /// Answers the requests for pages on the API's port. People sign in with an API key, and the requests of pages count
    /// against the rate limit of this key, like requests to the API.
    var pages: API.Pages {
        let responder = responder()
        return { try await responder.respond(to: $0, context: ConsoleContext(source: $1)) }
    }

    /// The responder for `path` and everything below it.
    ///
    /// - Parameter others: more actions, for tests.
    func responder(adding others: [ActionRoute] = []) -> some HTTPResponder<ConsoleContext> {
        let sessions = Sessions(
            store: ConsoleSessionStore(database: api.stores.main), keys: api.keys, now: api.now)
        let responder = PageResponder(
            templates: templates, sessions: sessions, cookie: SessionCookie(isSecure: api.isSecure), now: api.now)
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

    /// All pages, and the actions of their forms.
    var groups: [any PageGroup] {
        let stores = api.stores
        let tenure = api.configuration.tenure
        let reader = EventReader(
            apps: stores.apps, events: stores.events, outbox: stores.outbox, starts: stores.starts,
            throttles: PostgresThrottles(stores.main))
        return [
            OverviewPages(
                channels: stores.channels, reader: reader, history: stores.quotaHistory,
                activity: activity,
                tenure: tenure),
            EventPages(reader: reader, log: stores.auditLog),
            ComposerPages(reader: reader, api: api),
            NewEventPages(apps: stores.apps),
        ] + Resource.all.map { ResourcePages(resource: $0) as any PageGroup }
    }
}
