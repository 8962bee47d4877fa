internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandServer
internal import HTTP2
internal import Logging
internal import Postgres

/// What both measurements stand on: the stores, the simulator, and the calls to it, wired as the server wires them.
struct Bench: Sendable {
    let pool: PostgresPool
    let gateway: APNsClient
    let channels: ChannelStore
    let events: EventStore
    let reconciliations: ReconciliationStore
    let calls: ChannelCalls
    let reconciliation: Reconciliation
    let logger: Logger

    static let lease: TimeInterval = 30

    /// Runs `body` with a simulator that is stopped afterwards.
    static func with(_ pool: PostgresPool, _ logger: Logger, _ body: @Sendable (Bench) async throws -> Void)
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ledger-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let simulator = Simulator(options: SimulatorOptions(directory: folder.path), logger: logger)
        let addresses = try await simulator.start()
        var hosts: [APNsEnvironment: Endpoint] = [:]
        for environment in APNsEnvironment.allCases { hosts[environment] = Endpoint(url: addresses.url(environment)) }
        var settings = APNsClient.Settings(endpoints: Endpoints(send: hosts, manage: hosts))
        settings.trustRoots = .file(addresses.caFile)
        let now: @Sendable () -> Date = { Date() }
        let gateway = APNsClient(
            settings: settings, keys: KeyRing(directory: folder.path), now: now, logger: logger)
        do {
            try await body(Bench(pool: pool, gateway: gateway, now: now, logger: logger))
        } catch {
            await gateway.close()
            await simulator.stop()
            throw error
        }
        await gateway.close()
        await simulator.stop()
    }

    private init(pool: PostgresPool, gateway: APNsClient, now: @escaping @Sendable () -> Date, logger: Logger) {
        let store = Database(pool)
        self.pool = pool
        self.gateway = gateway
        self.logger = logger
        channels = ChannelStore(store)
        events = EventStore(store)
        reconciliations = ReconciliationStore(store)
        let management = ManagementCalls(
            gateway: gateway, remember: { try await AppStore(store).remember($0, for: $1) }, now: now, logger: logger)
        calls = ChannelCalls(
            management: management, channels: channels, reconciliations: reconciliations, lease: Self.lease, now: now,
            logger: logger)
        reconciliation = Reconciliation(
            management: management, channelCalls: calls, store: reconciliations, lease: Self.lease, now: now,
            logger: logger)
    }

    /// Registers an app of the simulator's team.
    func register(_ bundleID: String) async throws -> APNsAddress {
        guard let bundleID = BundleID(rawValue: bundleID) else { throw Unfit(what: bundleID) }
        let signer = Credentials(teamID: SimulatorIdentity.teamID, keyID: SimulatorIdentity.keyID)
        let app = Contract.AppDraft(name: "Benchmark", teamId: signer.teamID, keyId: signer.keyID)
        _ = try await AppStore(Database(pool)).put(bundleID, app, by: .server, now: Date())
        return APNsAddress(bundleID: bundleID, environment: .development, credentials: signer)
    }

    /// Creates channels at the simulator, 32 at a time, as the Provisioner does; returns their IDs.
    func createAtApple(_ count: Int, at address: APNsAddress) async throws -> [String] {
        try await withThrowingTaskGroup(of: String.self) { group in
            var ids: [String] = []
            for index in 0..<count {
                if index >= 32, let id = try await group.next() { ids.append(id) }
                group.addTask {
                    let answer = await gateway.createChannel(.noMessageStored, at: address, requestID: UUID())
                    guard case .accepted(let id, _) = answer else { throw Unfit(what: "\(answer)") }
                    return id
                }
            }
            for try await id in group { ids.append(id) }
            return ids
        }
    }

    /// Seconds that `body` takes.
    static func seconds(_ body: () async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        try await body()
        let elapsed = start.duration(to: .now).components
        return Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18
    }
}

/// Something the measurement rests on did not hold.
struct Unfit: Error {
    let what: String
}

extension [Double] {
    /// The middle one, the lower of two.
    var median: Double { sorted()[(count - 1) / 2] }
}
