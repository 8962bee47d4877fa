internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/apps/{bundleId}/contents`: the content types that an app can decode, and which changes send an alert.
struct ContentRoutes: Sendable {
    let contents: ContentOperations

    var routes: [Route] {
        [
            Route(.listContents) { _, context in
                .json(try await contents.list(of: try context.bundleID(), try context.query.page(), context.caller))
            },
            Route(.putContent) { request, context in
                let (bundleID, name) = (try context.bundleIDToWrite(), try context.attributesType())
                let condition = try request.writeCondition()
                let body = try await request.json()
                let (type, created) = try await contents.put(name, of: bundleID, body, if: condition, context.caller)
                return .json(type, status: created ? .created : .ok)
            },
            Route(.getContent) { _, context in
                .json(try await contents.type(try context.attributesType(), of: try context.bundleID(), context.caller))
            },
            Route(.deleteContent) { request, context in
                let condition = try request.writeCondition()
                try await contents.delete(
                    try context.attributesType(), of: try context.bundleID(), if: condition, context.caller)
                return .noContent
            },
        ]
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

struct ContentOperations: Sendable {
    let apps: AppStore
    let contents: ContentStore
    let now: @Sendable () -> Date

    /// - Parameter body: the body of `PUT /v1/apps/{bundleId}/contents/{attributesType}`.
    /// - Throws: `app-not-found`, `invalid-request`, `version-mismatch`, `forbidden`.
    func put(
        _ name: String, of bundleID: BundleID, _ body: JSONValue, if condition: WriteCondition, _ caller: Caller
    ) async throws -> (type: Versioned<Contract.ContentType>, created: Bool) {
        try caller.requireAccess(to: bundleID)
        let app = try await apps.registered(bundleID)
        let type = try ContentType(try app.id, name, body: body)
        return try await contents.put(type, by: caller.actor, if: condition, now: now())
    }

    /// - Throws: `app-not-found`, `forbidden`.
    func list(of bundleID: BundleID, _ page: PageRequest, _ caller: Caller) async throws
        -> Contract.Page<Contract.ContentType>
    {
        try caller.requireAccess(to: bundleID)
        _ = try await apps.registered(bundleID)
        return try await contents.contentTypes(of: bundleID, page)
    }

    /// - Throws: `app-not-found`, `content-not-found`, `forbidden`.
    func type(
        _ name: String, of bundleID: BundleID, _ caller: Caller
    ) async throws -> Versioned<Contract.ContentType> {
        try caller.requireAccess(to: bundleID)
        _ = try await apps.registered(bundleID)
        guard let declared = try await contents.contentType(name, of: bundleID) else {
            throw Self.absent(name, bundleID)
        }
        return declared
    }

    /// - Throws: `app-not-found`, `content-not-found`, `content-in-use`, `version-mismatch`, `forbidden`.
    func delete(
        _ name: String, of bundleID: BundleID, if condition: WriteCondition, _ caller: Caller
    ) async throws {
        try caller.requireAccess(to: bundleID)
        _ = try await apps.registered(bundleID)
        guard try await contents.delete(name, of: bundleID, by: caller.actor, if: condition, now: now()) else {
            throw Self.absent(name, bundleID)
        }
    }

    private static func absent(_ name: String, _ bundleID: BundleID) -> Problem {
        Problem(
            .contentNotFound,
            "\(bundleID) has no content type \(JSONText.quoted(name)). Declare it with PUT "
                + "/v1/apps/\(bundleID)/contents/…."
        )
    }
}
