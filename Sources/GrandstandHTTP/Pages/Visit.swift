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
    /// Carries out a form's work once and keeps its answer under a name (`ConsoleDoor.once`).
    let once: Once

    typealias Once =
        @Sendable (
            _ name: String, _ recover: FormRecovery?, _ work: @escaping @Sendable () async throws -> [UInt8]
        ) async throws -> [UInt8]

    init(
        key: APIKey, query: FormFields, path: String, parameters: Parameters, now: Date,
        once: @escaping Once = { _, _, work in try await work() }
    ) {
        self.key = key
        self.query = query
        self.path = path
        self.parameters = parameters
        self.now = now
        self.once = once
    }

    /// A part of the path as a part of another.
    func segment(_ name: String) -> String { PercentEncoding.encode(parameters.get(name) ?? "") }

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
