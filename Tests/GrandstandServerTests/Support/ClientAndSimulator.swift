internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import HTTP2

@testable internal import GrandstandServer

/// A simulator, and a client of it over TLS and HTTP/2.
struct ClientAndSimulator: Sendable {
    let simulator: Simulator
    let addresses: SimulatorAddresses
    let client: APNsClient
    /// The folder of the simulator's files and keys.
    let directory: String

    static let address = APNsAddress(
        bundleID: Sample.stadium, environment: .development,
        credentials: Credentials(teamID: SimulatorIdentity.teamID, keyID: SimulatorIdentity.keyID))

    static let use = UsedKey(credentials: address.credentials, environment: address.environment)

    /// Runs `body`. Management paths accept capitals in a bundle ID, unless `options` say otherwise.
    static func with(
        settings: (inout APNsClient.Settings) -> Void = { _ in },
        options: (inout SimulatorOptions) -> Void = { _ in },
        now: @escaping @Sendable () -> Date = { Date() },
        _ body: (ClientAndSimulator) async throws -> Void
    ) async throws {
        let folder = try KeyFolder()
        var simulatorOptions = SimulatorOptions(directory: folder.path)
        simulatorOptions.quirks.capitals = .accepted
        options(&simulatorOptions)
        let simulator = Simulator(options: simulatorOptions, logger: LoopSample.logger)
        let addresses = try await simulator.start()
        let client = try client(addresses, keys: folder.path, settings: settings, now: now)
        let stop = {
            await client.close()
            await simulator.stop()
        }
        try await ending(with: stop) {
            try await body(
                ClientAndSimulator(
                    simulator: simulator, addresses: addresses, client: client, directory: folder.path))
        }
    }

    static func oneConnection(_ settings: inout APNsClient.Settings) {
        settings.connections = 1
        settings.maximumConnections = 1
    }

    /// The connections that had requests.
    var connections: Set<Int> { Set(simulator.journal().map(\.request.connectionID)) }

    /// How often each message was processed.
    var processed: [Int] {
        let entries = simulator.journal().filter { $0.operation == .broadcast && $0.status == 200 }
        return Dictionary(grouping: entries) { $0.request[header: "apns-request-id"] }.values.map(\.count)
    }

    /// A client of a simulator at `addresses` whose keys are in the folder `keys`.
    static func client(
        _ addresses: SimulatorAddresses, keys: String, settings change: (inout APNsClient.Settings) -> Void = { _ in },
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws -> APNsClient {
        var endpoints = Endpoints(send: [:], manage: [:])
        for environment in APNsEnvironment.allCases {
            endpoints.send[environment] = Endpoint(url: addresses.url(environment))
            endpoints.manage[environment] = Endpoint(url: addresses.url(environment))
        }
        var settings = APNsClient.Settings(endpoints: endpoints)
        settings.trustRoots = .file(addresses.caFile)
        // Long timeouts, because the machine may be busy.
        settings.requestTimeout = .seconds(60)
        settings.pingAfter = .seconds(30)
        settings.pingTimeout = .seconds(30)
        change(&settings)
        return APNsClient(settings: settings, keys: KeyRing(directory: keys), now: now, logger: LoopSample.logger)
    }

    static func message(
        to channelID: String, at address: APNsAddress = Self.address, expiration: Int = 0
    ) -> ClaimedDelivery {
        ClaimedDelivery(
            lane: 1,
            message: LaneMessage(
                id: 1, broadcast: UUID(), priority: .immediate, apnsExpiration: expiration, expiresAt: .distantFuture,
                attempts: 1, requestID: UUID(), channelID: channelID),
            address: address,
            body: BroadcastPayload(event: .update, contentState: Array(#"{"a":1.50e3}"#.utf8)).body(
                timestamp: 1_700_000_000), replica: UUID())
    }

    /// Sends a message through the client.
    func send(to channelID: String, at address: APNsAddress = Self.address) async -> APNsAnswer<Void> {
        await client.send(Self.message(to: channelID, at: address))
    }

    /// Refuses the next requests that match, without processing them.
    ///
    /// - Parameter match: the members of the fault's `match`.
    func refuse(_ reason: APNsReason, times: Int = 1, match: String = "") throws {
        try simulator.addFaults(
            #"""
            {"faults": [{"match": {\#(match)}, "action": "refuse", "reason": "\#(reason.rawValue)", "times": \#(times)}]}
            """#)
    }

    /// Withholds the answers to matching requests until the fault `hold` is removed.
    func hold(_ match: String = "") throws {
        try simulator.addFaults(#"{"faults": [{"name": "hold", "match": {\#(match)}, "action": "delay"}]}"#)
    }

    /// Creates a channel through the client.
    func makeChannel(_ policy: StoragePolicy = .noMessageStored) async throws -> String {
        try await client.createChannel(policy, at: Self.address).value()
    }
}

extension APNsAnswer {
    /// The value of an accepted answer.
    func value() throws -> Value {
        guard case .accepted(let value, _) = self else { throw NeverHappened(what: "an acceptance: \(self)") }
        return value
    }

    var refusal: APNsRefusal? { if case .refused(let refusal) = self { refusal } else { nil } }

    var receipt: APNsReceipt? { if case .accepted(_, let receipt) = self { receipt } else { nil } }

    var isUnanswered: Bool { if case .unanswered = self { true } else { false } }

    /// The reason of an unsent call.
    var unsent: String? { if case .unsent(let why) = self { why } else { nil } }

    /// The reason of a call that was not attempted.
    var withheld: String? { if case .withheld(let why) = self { why } else { nil } }
}
