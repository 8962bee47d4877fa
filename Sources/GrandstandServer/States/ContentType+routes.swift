internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/apps/{bundleId}/contents`: the content types that an app can decode, and which changes send an alert.
extension API {
    var contentRoutes: [Route] {
        let contents = stores.contentTypes
        return [
            Route(.listContents) { _, context in
                let (bundleID, page) = (try context.bundleID(), try context.query.page())
                _ = try await stores.apps.registered(bundleID)
                return .json(try await contents.contentTypes(of: bundleID, page))
            },
            Route(.putContent) { request, context in
                let (bundleID, name) = (try context.bundleIDToWrite(), try context.attributesType())
                let condition = try request.writeCondition()
                let body = try await request.json()
                let app = try await stores.apps.registered(bundleID)
                let (type, created) = try await contents.put(
                    try ContentType(try app.id, name, body: body), by: context.caller.actor, if: condition, now: now())
                return .json(type, status: created ? .created : .ok)
            },
            Route(.getContent) { _, context in
                let name = try context.attributesType()
                let bundleID = try await app(context)
                guard let declared = try await contents.contentType(name, of: bundleID) else {
                    throw Problem.noContent(name, bundleID)
                }
                return .json(declared)
            },
            Route(.deleteContent) { request, context in
                let condition = try request.writeCondition()
                let name = try context.attributesType()
                let bundleID = try await app(context)
                let isDeleted = try await contents.delete(
                    name, of: bundleID, by: context.caller.actor, if: condition, now: now())
                guard isDeleted else { throw Problem.noContent(name, bundleID) }
                return .noContent
            },
        ]
    }

    /// The app in the path, which is registered.
    ///
    /// - Throws: `app-not-found`, `forbidden`.
    private func app(_ context: APIContext) async throws -> BundleID {
        let bundleID = try context.bundleID()
        _ = try await stores.apps.registered(bundleID)
        return bundleID
    }
}

extension Problem {
    fileprivate static func noContent(_ name: String, _ bundleID: BundleID) -> Problem {
        Problem(
            .contentNotFound,
            "\(bundleID) has no content type \(JSONText.quoted(name)). Declare it with PUT "
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
