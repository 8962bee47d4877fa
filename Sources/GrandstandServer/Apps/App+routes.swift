internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/apps`: apps, and the provider keys that sign for them.
extension API {
    var appRoutes: [Route] {
        let apps = appOperations
        return [
            Route(.putApp) { request, context in
                let bundleID = try context.bundleIDToWrite()
                let condition = try request.writeCondition()
                let draft = try Contract.AppDraft(body: try await request.json())
                let (app, created) = try await apps.put(bundleID, draft, if: condition, context.caller)
                return .json(app, status: created ? .created : .ok)
            },
            Route(.listApps) { _, context in
                let page = try context.query.page()
                if context.isOfClientApp { return .json(try await apps.names(page, context.caller)) }
                return .json(try await apps.list(page, context.caller.reach))
            },
            Route(.getApp) { _, context in
                let bundleID = try context.bundleID()
                if context.isOfClientApp { return .json(try await apps.name(bundleID)) }
                return .json(try await apps.app(bundleID))
            },
            Route(.deleteApp) { _, context in
                try await apps.delete(try context.bundleID(), context.caller)
                return .noContent
            },
        ]
    }
}

extension Contract.AppDraft {
    /// Reads the body of `PUT /v1/apps/{bundleId}`.
    init(body: JSONValue) throws(Problem) {
        self = try Self.read(body) { draft, faults throws(Problem) in
            if let fault = ContentPreview.fault(in: draft.preview?.compact) { faults.add("/preview/compact", fault) }
            if let fault = ContentPreview.fault(in: draft.preview?.expanded) { faults.add("/preview/expanded", fault) }
            return draft
        }
    }
}

extension Contract.AppName {
    /// The short view of an app, for keys that ship in client apps.
    init(_ app: Contract.App) { self.init(bundleId: app.bundleId, topic: app.topic, name: app.name) }
}
