internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/apps`: apps with the state of their key files, and the provider keys that sign for them. Keys that ship in client
/// apps get the short view of an app.
extension API {
    var appRoutes: [Route] {
        let apps = stores.apps
        return [
            Route(.putApp) { request, context in
                let bundleID = try context.bundleID(orThrow: .invalidRequest)
                let condition = try request.writeCondition()
                let draft = try Contract.AppDraft(body: try await request.json())
                let (app, created) = try await apps.put(
                    bundleID, draft, by: context.actor, if: condition, now: now())
                return .json(shown(app), status: created ? .created : .ok)
            },
            Route(.listApps) { _, context in
                let page = try await apps.apps(try context.query.page(), within: context.reach)
                let (items, next) = (page.items, page.nextCursor)
                return context.isOfClientApp
                    ? .json(Contract.Page(items: items.map(Contract.AppName.init), nextCursor: next))
                    : .json(Contract.Page(items: items.map(gateway.withKeyStates), nextCursor: next))
            },
            Route(.getApp) { _, context in
                let app = try await apps.existing(try context.bundleID())
                return context.isOfClientApp
                    ? .json(Versioned(value: Contract.AppName(app.value), version: app.version)) : .json(shown(app))
            },
            Route(.deleteApp) { _, context in
                try await apps.delete(try context.bundleID(), by: context.actor, now: now())
                return .noContent
            },
        ]
    }

    private func shown(_ app: Versioned<Contract.App>) -> Versioned<Contract.App> {
        Versioned(value: gateway.withKeyStates(app.value), version: app.version)
    }
}

extension Contract.AppDraft {
    /// Reads the body of `PUT /v1/apps/{bundleId}`.
    init(body: JSONValue) throws(Problem) {
        self = try Self.read(body) { draft, faults throws(Problem) in
            for (name, text) in [("compact", draft.preview?.compact), ("expanded", draft.preview?.expanded)] {
                if let fault = ContentPreview.fault(in: text) { faults.add("/preview/\(name)", fault) }
            }
            return draft
        }
    }
}

extension Contract.AppName {
    /// The short view of an app, for keys that ship in client apps.
    init(_ app: Contract.App) { self.init(bundleId: app.bundleId, topic: app.topic, name: app.name) }
}
