internal import APNsWire
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

    /// - Throws: `app-not-found`; `forbidden` for a key of another app.
    func bundleID() throws(Problem) -> BundleID {
        let text = parameter("bundleId")
        guard let bundleID = BundleID(rawValue: text) else {
            throw Problem(.appNotFound, "\(JSONText.quoted(text)) cannot be a bundle ID. \(BundleID.rule)")
        }
        try requireCover(of: bundleID)
        return bundleID
    }

    /// The app a list is narrowed to: what was asked for, or what the key is bound to.
    ///
    /// - Throws: `invalid-request`, `forbidden`.
    func chosenApp() throws(Problem) -> BundleID? {
        guard let bundleID = try query.read("bundleId", BundleID.rule, BundleID.init) else { return key.bundleID }
        try requireCover(of: bundleID)
        return bundleID
    }

    /// - Throws: `not-found`.
    func environment() throws(Problem) -> APNsEnvironment {
        let text = parameter("environment")
        guard let environment = APNsEnvironment(rawValue: text) else {
            throw Problem(
                .notFound, "\(JSONText.quoted(text)) is no environment; there are development and production.")
        }
        return environment
    }

    /// The app and environment in the path.
    func app() throws(Problem) -> Audience.Selector {
        Audience.Selector(bundleID: try bundleID(), environment: try environment())
    }

    /// - Throws: `event-not-found`.
    func eventKey() throws(Problem) -> EventKey {
        let text = parameter("key")
        guard let key = EventKey(rawValue: text) else {
            throw Problem(.eventNotFound, "\(JSONText.quoted(text)) cannot be an event key. \(EventKey.rule)")
        }
        return key
    }

    /// A UUID in the path; text that is none names nothing.
    func id(orThrow kind: Problem.Kind) throws(Problem) -> UUID {
        let text = parameter("id")
        guard let id = UUID(uuidString: text) else {
            throw Problem(kind, "\(JSONText.quoted(text)) is not an ID of ours; those are UUIDs.")
        }
        return id
    }

    /// Fifty rows a page.
    var page: PageRequest { PageRequest(limit: 50, cursor: query["cursor"]) }

    /// Whether this is the first page of a list.
    var isAtStart: Bool { query["cursor"] == nil }

    /// - Throws: `forbidden` for a key of another app.
    func requireCover(of bundleID: BundleID) throws(Problem) {
        guard !key.covers(bundleID) else { return }
        throw key.reach.refusal
    }

    /// - Throws: `forbidden` when the event has audiences that the key does not reach.
    func requireCover(of event: Event) throws(Problem) {
        guard key.reach.covers(eventOf: event.specification.audiences.map(\.bundleID)) else { throw key.reach.refusal }
    }

    private func parameter(_ name: String) -> String {
        let raw = parameters.get(name) ?? ""
        return PercentEncoding.decode(raw) ?? raw
    }
}
