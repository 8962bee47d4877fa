internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird

/// One request with its key. Like the API, it checks that the key may access the app in the path.
struct Visit: Sendable {
    let key: APIKey
    let query: FormFields
    /// The path of the request, without the query.
    let path: String
    let parameters: Parameters
    let now: Date
    /// Calls an operation of the API with the visitor's key.
    var perform: @Sendable (PageCall) async throws -> Response = { call in
        throw Problem(.notFound, "There is no operation \(call.operation.id) here.")
    }

    /// The app that filters a list; `nil`: all.
    ///
    /// - Throws: `invalid-request`, `forbidden`.
    func chosenApp() throws(Problem) -> BundleID? {
        guard let bundleID = try query.read("bundleId", BundleID.rule, BundleID.init) else { return nil }
        try requireAccess(to: bundleID)
        return bundleID
    }

    /// A page of 50 rows.
    var page: PageRequest { PageRequest(limit: 50, cursor: query["cursor"]) }

    /// Whether this is the first page of a list.
    var isAtStart: Bool { query["cursor"] == nil }
}

extension Visit: PathReading {
    func parameter(_ name: String) -> String? { parameters.get(name) }

    var reach: AppReach { key.reach }
}
