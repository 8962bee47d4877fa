internal import FoundationEssentials
internal import Grandstand
internal import Hummingbird

/// One request with its key. Whether the key is bound to another app is checked here, as it is in the API.
struct Visit: Sendable {
    let key: APIKey
    let query: FormFields
    /// The path as it was asked for, without its query.
    let path: String
    let parameters: Parameters
    let now: Date

    /// The app a list is narrowed to, if one was asked for.
    ///
    /// - Throws: `invalid-request`, `forbidden`.
    func chosenApp() throws(Problem) -> BundleID? {
        guard let bundleID = try query.read("bundleId", BundleID.rule, BundleID.init) else { return nil }
        try requireCover(of: bundleID)
        return bundleID
    }

    /// Fifty rows a page.
    var page: PageRequest { PageRequest(limit: 50, cursor: query["cursor"]) }

    /// Whether this is the first page of a list.
    var isAtStart: Bool { query["cursor"] == nil }
}

extension Visit: PathReading {
    func parameter(_ name: String) -> String? { parameters.get(name) }

    var reach: AppReach { key.reach }
}
