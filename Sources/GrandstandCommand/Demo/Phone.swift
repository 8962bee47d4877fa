internal import APNsSimulator
internal import APNsWire
internal import GrandstandClient

/// A simulated phone with one app. The phone registers itself with the server.
struct Phone: Sendable {
    let id: String
    /// The phone's push-to-start token.
    let token: String
    private let locale: String
    private let identity: GrandstandClient.InstallationIdentity

    /// Adds the phone to the simulator.
    init(
        _ id: String, app bundleID: String, in environment: APNsEnvironment,
        locale: String = "en-GB", _ simulator: Simulator
    ) throws {
        let device = try simulator.addDevice(id, in: environment, bundleIDs: [bundleID])
        guard let token = device.startTokens[bundleID.lowercased()] else { throw PlayFailure("\(id) has no token") }
        self.id = id
        self.token = token
        self.locale = locale
        identity = .init(new: .init(bundleID, .init(rawValue: environment.rawValue)))
    }

    /// Registers the phone as a follower of topics, as its app would.
    func follow(_ topics: [String], attributesType: String, _ app: GrandstandClient) async throws {
        try await app.send(
            .putInstallation(
                identity,
                .init(
                    systemVersion: "18.4", locale: locale,
                    startTokens: [.init(attributesType: attributesType, token: token)], topics: topics)))
    }
}

/// Why a match could not be played, or which result was wrong.
struct PlayFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Runs `body` for all elements, at most `width` at a time.
///
/// - Returns: what `body` returned, in the order in which it ended.
@discardableResult
func forEach<Elements: Sequence, Value: Sendable>(
    _ elements: Elements, atMost width: Int,
    _ body: @escaping @Sendable (Elements.Element) async throws -> Value
) async throws -> [Value] where Elements.Element: Sendable {
    try await withThrowingTaskGroup(of: Value.self) { group in
        var values: [Value] = []
        for (index, element) in elements.enumerated() {
            if index >= width, let value = try await group.next() { values.append(value) }
            group.addTask { try await body(element) }
        }
        for try await value in group { values.append(value) }
        return values
    }
}
