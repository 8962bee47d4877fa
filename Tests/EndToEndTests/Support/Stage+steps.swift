internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// Steps that several tests share.
extension Stage {
    /// Registers an app whose key the simulator knows.
    func putApp(_ bundleID: String = Stage.bundleID, channelLimit: Int = 10_000) async throws {
        try await Self.putApp(api, bundleID, channelLimit: channelLimit)
    }

    /// Registers an app whose key the simulator knows, through any server.
    static func putApp(
        _ api: HTTPCaller, _ bundleID: String = Stage.bundleID, channelLimit: Int = 10_000
    ) async throws {
        let answer = try await api(
            "PUT", "/v1/apps/\(bundleID)",
            """
            {"name": "Stadium", "teamId": "\(SimulatorIdentity.teamID)", "keyId": "\(SimulatorIdentity.keyID)",
             "channelLimit": \(channelLimit)}
            """)
        try #require([200, 201].contains(answer.status), "\(answer.text)")
    }

    /// What the API shows at a path.
    func shown(_ path: String) async throws -> JSON { try await api("GET", path).json }

    /// One audience of an event, as JSON.
    static func audience(
        _ environment: APNsEnvironment = .development, _ policy: StoragePolicy = .noMessageStored,
        of bundleID: String = Stage.bundleID
    ) -> String {
        """
        {"bundleId": "\(bundleID)", "environment": "\(environment.rawValue)", "storagePolicy": "\(policy.rawValue)"}
        """
    }

    func putEvent(_ key: String? = nil, _ audiences: [String] = [Stage.audience()]) async throws {
        let answer = try await api(
            "PUT", "/v1/events/\(key ?? event)",
            #"{"name": "Derby", "audiences": [\#(audiences.joined(separator: ","))]}"#)
        try #require([200, 201].contains(answer.status), "\(answer.text)")
    }

    /// Waits until every audience of the event has its channel; returns Apple's IDs in the audiences' order.
    @discardableResult
    func activeChannels(of key: String? = nil) async throws -> [String] {
        try await until("every channel of \(key ?? event) is active") {
            let audiences = try await shown("/v1/events/\(key ?? event)")["audiences"]?.items ?? []
            let states = audiences.map { $0["channel"]?["state"]?.string }
            guard !states.isEmpty, states.allSatisfy({ $0 == "active" }) else { return nil }
            return audiences.compactMap { $0["channel"]?["channelId"]?.string }
        }
    }

    /// Declares an event with one channel that stores nothing. Returns Apple's ID of the channel once it is active.
    @discardableResult
    func liveEvent(_ key: String? = nil) async throws -> String {
        try await putEvent(key)
        return try #require(try await activeChannels(of: key).first)
    }

    /// Registers the app and declares an event with one channel that stores nothing. Returns Apple's ID of the channel
    /// once it is active.
    @discardableResult
    func putLiveEvent(_ key: String? = nil) async throws -> String {
        try await putApp()
        return try await liveEvent(key)
    }

    /// Reconciles, once no other run is under way; returns the report.
    func reconcile(_ body: String) async throws -> JSON {
        try await until("a reconciliation ran") {
            let answer = try await api("POST", "/v1/apps/\(Self.bundleID)/development/reconciliations", body)
            if answer.slug == "reconciliation-running" { return nil }
            try #require(answer.status == 201, "\(answer.text)")
            return answer.json
        }
    }

    /// Apple's IDs of the app's channels in development.
    var atApple: Set<String> { Set(simulator.channels(of: Self.bundleID, in: .development).map(\.id)) }

    /// The app's quota in development.
    func quota() async throws -> JSON {
        let quotas = try await shown("/v1/quotas")["items"]?.items
        return try #require(quotas?.first { $0["environment"]?.string == "development" })
    }

    /// Sends a broadcast that must be accepted; returns its ID.
    func broadcast(_ body: String, to key: String? = nil) async throws -> String {
        let answer = try await api("POST", "/v1/events/\(key ?? event)/broadcasts", body)
        try #require(answer.status == 202, "\(answer.text)")
        return try #require(answer.json["id"]?.string)
    }

    /// Waits until nothing more will happen to a broadcast, and returns it.
    func settled(_ id: String) async throws -> JSON {
        try await until("broadcast \(id) is done or cancelled") {
            let broadcast = try await shown("/v1/broadcasts/\(id)")
            return ["done", "cancelled"].contains(broadcast["state"]?.string) ? broadcast : nil
        }
    }
}

extension Simulator {
    /// Withholds the answers to matching requests until `removeFault` is called with the returned name.
    ///
    /// - Parameter match: the members of the fault's `match`.
    func hold(_ match: String) throws -> String {
        let name = "hold-\(UUID())"
        try addFaults(#"{"faults": [{"name": "\#(name)", "match": {\#(match)}, "action": "delay"}]}"#)
        return name
    }
}

extension SimulatorRequest {
    var isBroadcast: Bool { path.hasPrefix("/4/broadcasts/") }

    var isCreation: Bool { method == "POST" && path.hasSuffix("/channels") }

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as JSON; null if the body is not JSON.
    var json: JSON { JSON(body) }

    /// `aps.timestamp` of a broadcast.
    var timestamp: Int? { json["aps"]?["timestamp"]?.int }
}

extension JSON {
    /// The states of a broadcast's deliveries, in order.
    var deliveryStates: [String] { self["deliveries"]?.items.compactMap { $0["state"]?.string } ?? [] }
}
