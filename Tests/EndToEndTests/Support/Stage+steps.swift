internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandClient
internal import GrandstandTestKit
internal import Testing

/// Steps that several tests share.
extension Stage {
    /// Registers an app whose key the simulator knows.
    func putApp(_ bundleID: String? = nil, channelLimit: Int = 10_000) async throws {
        try await Self.putApp(api, bundleID ?? self.bundleID, channelLimit: channelLimit)
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
        try #require(answer.status == 201, "\(answer.text)")
    }

    /// One audience of an event, as JSON.
    static func audience(
        _ environment: APNsEnvironment, _ policy: StoragePolicy, of bundleID: String = Stage.bundleID
    ) -> String {
        """
        {"bundleId": "\(bundleID)", "environment": "\(environment.rawValue)", "storagePolicy": "\(policy.rawValue)"}
        """
    }

    /// One audience of the test's app, as JSON.
    func audience(_ environment: APNsEnvironment, _ policy: StoragePolicy) -> String {
        Self.audience(environment, policy, of: bundleID)
    }

    @discardableResult
    func putEvent(_ key: String, _ audiences: [String]? = nil) async throws -> HTTPCaller.Answer {
        let audiences = audiences ?? [audience(.development, .noMessageStored)]
        let answer = try await api(
            "PUT", "/v1/events/\(key)", #"{"name": "Derby", "audiences": [\#(audiences.joined(separator: ","))]}"#)
        try #require([200, 201].contains(answer.status), "\(answer.text)")
        return answer
    }

    /// Waits until every audience of the event has its channel; returns Apple's IDs in the audiences' order.
    @discardableResult
    func activeChannels(of key: String) async throws -> [String] {
        try await until("every channel of \(key) is active") {
            let audiences = try await api("GET", "/v1/events/\(key)").json["audiences"]?.items ?? []
            let states = audiences.map { $0["channel"]?["state"]?.string }
            guard !states.isEmpty, states.allSatisfy({ $0 == "active" }) else { return nil }
            return audiences.compactMap { $0["channel"]?["channelId"]?.string }
        }
    }

    /// Registers the app and declares an event, by default with one channel that stores nothing. Returns Apple's IDs
    /// once the channels are active.
    @discardableResult
    func putLiveEvent(_ key: String? = nil, _ audiences: [String]? = nil) async throws -> [String] {
        try await putApp()
        try await putEvent(key ?? event, audiences)
        return try await activeChannels(of: key ?? event)
    }

    /// Reconciliations of the app in development.
    var reconciliations: String { "/v1/apps/\(bundleID)/development/reconciliations" }

    /// Reconciles, once no other run is under way; returns the report.
    func reconcile(_ body: String) async throws -> JSON {
        try await until("a reconciliation ran") {
            let answer = try await api("POST", reconciliations, body)
            if answer.slug == "reconciliation-running" { return nil }
            try #require(answer.status == 201, "\(answer.text)")
            return answer.json
        }
    }

    /// Asks for `count` channels by hand, all at once. A call that had to wait too long is repeated.
    func createChannels(_ count: Int) async throws -> [HTTPCaller.Answer] {
        try await concurrently(count) { _ in
            let key = UUID().uuidString
            return try await until("the channel is made or refused", within: .seconds(120)) {
                let answer = try await api(
                    "POST", "/v1/apps/\(bundleID)/development/channels",
                    #"{"storagePolicy": "noMessageStored"}"#, headers: ["Idempotency-Key": key])
                let waits: [String?] = ["store-unavailable", "idempotency-in-progress", "channel-pending"]
                return waits.contains(answer.slug) ? nil : answer
            }
        }
    }

    /// The app's channels in development, as Apple has them.
    func atApple() -> [SimulatedChannel] { simulator.channels(of: bundleID, in: .development) }

    /// The app's quota in development.
    func quota() async throws -> JSON {
        let quotas = try await api("GET", "/v1/quotas?limit=200").json["items"]?.items ?? []
        return try #require(
            quotas.first {
                $0["environment"]?.string == "development" && $0["bundleId"]?.string == bundleID
            })
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
            let broadcast = try await api("GET", "/v1/broadcasts/\(id)").json
            return ["done", "cancelled"].contains(broadcast["state"]?.string) ? broadcast : nil
        }
    }

    /// Whether a request is about the test's app.
    var isOwn: @Sendable (SimulatorRequest) -> Bool {
        let name = bundleID.lowercased()
        return { ($0.path + " " + ($0[header: "apns-topic"] ?? "")).lowercased().contains(name) }
    }

    /// The simulator's requests that are about the test's app.
    var journal: [JournalEntry] { simulator.journal().filter { isOwn($0.request) } }

    /// Waits until `count` broadcasts of the test's app have reached the simulator, and returns them in order.
    func sent(_ count: Int) async throws -> [SimulatorRequest] {
        let isOwn = isOwn
        return try await simulator.requests(count) { $0.request.isBroadcast && isOwn($0.request) }.map(\.request)
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
