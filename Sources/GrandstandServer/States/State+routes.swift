internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/events/{key}/state`: the present state of an event, as a data feed sends it.
extension API {
    var stateRoutes: [Route] {
        [
            Route(.putState) { request, context in
                let key = try context.eventKey()
                let report = try Contract.StateDraft.read(try await request.json())
                let told = try await stores.outbox.putState(Intake(key, report, context.caller, at: now()))
                guard let broadcast = told else {
                    return .json(Contract.UnchangedState(outcome: .unchanged))
                }
                return .json(broadcast, status: .accepted)
            },
            Route(.previewState) { request, context in
                let key = try context.eventKey()
                let report = try Contract.StateDraft.read(try await request.json())
                let found = try await preview(Intake(key, report, context.caller, at: now()))
                return .json(
                    Contract.StatePreview(
                        outcome: found?.accepted.outcome ?? .unchanged, rule: found?.accepted.rule,
                        goesAt: found?.preview.goesAt, audiences: found?.preview.audiences ?? [],
                        warnings: found?.preview.warnings ?? []))
            },
        ]
    }
}

/// `/v1/apps/{bundleId}/contents`: the content types that an app can decode, and which changes send an alert.
extension API {
    var contentRoutes: [Route] {
        let contents = stores.contentTypes
        return [
            Route(.listContents) { _, context in
                let page = try context.query.page()
                return .json(try await contents.contentTypes(of: try await app(context), page))
            },
            Route(.putContent) { request, context in
                let (bundleID, name) = (try context.bundleID(orThrow: .invalidRequest), try context.attributesType())
                let condition = try request.writeCondition()
                let body = try await request.json()
                let app = try await stores.apps.registered(bundleID).id
                let (type, created) = try await contents.put(
                    try ContentType(app, name, body: body), by: context.caller.actor, if: condition, now: now())
                return .json(type, status: created ? .created : .ok)
            },
            Route(.getContent) { _, context in
                let name = try context.attributesType()
                let bundleID = try await app(context)
                return .json(try await contents.contentType(name, of: bundleID))
            },
            Route(.deleteContent) { request, context in
                let condition = try request.writeCondition()
                let name = try context.attributesType()
                let bundleID = try await app(context)
                try await contents.delete(name, of: bundleID, by: context.caller.actor, if: condition, now: now())
                return .noContent
            },
        ]
    }

    /// The app in the path as it is registered.
    ///
    /// - Throws: `app-not-found`, `forbidden`.
    private func app(_ context: APIContext) async throws -> BundleID {
        try await stores.apps.registered(try context.bundleID()).id
    }
}

extension Problem {
    static func noContentType(_ name: String, _ bundleID: BundleID) -> Problem {
        Problem(
            .contentNotFound,
            "\(bundleID) has no content type \(name.quotedJSON). Declare it with PUT "
                + "/v1/apps/\(bundleID)/contents/…."
        )
    }
}

extension APIContext {
    /// The content type in the path.
    ///
    /// - Throws: `invalid-request` for text that cannot be the name of a content type.
    fileprivate func attributesType() throws(Problem) -> String {
        let name = text("attributesType")
        guard TextRule.attributesType.accepts(name) else {
            throw Problem.invalid(
                "The content type in the path is not valid.", at: "attributesType",
                "The name of a Swift type was expected, of at most 128 characters.")
        }
        return name
    }
}
