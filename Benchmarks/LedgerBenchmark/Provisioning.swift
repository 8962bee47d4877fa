internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandServer
internal import Postgres

/// Events that all want a channel at once, beside what that cannot do without: the same number of creations at Apple.
struct Provisioning {
    let bench: Bench
    let events: Int

    func run() async throws {
        let plain = try await bench.register("com.example.plain")
        let creations = try await Bench.seconds { _ = try await bench.createAtApple(events, at: plain) }

        let address = try await bench.register("com.example.provisioning")
        let audience = Audience(
            bundleID: address.bundleID, environment: address.environment, storagePolicy: .noMessageStored)
        let before = Memory.mark()
        let declared = try await Bench.seconds { try await declare(audience) }

        let signals = WakeSignals(bench.pool)
        let listening = Task { await signals.run() }
        let provisioner = Provisioner(
            channels: bench.channels, calls: bench.calls, signals: signals,
            settings: .init(tenure: ChannelTenure(retireAfter: 3_600), lease: Bench.lease), now: { Date() },
            logger: bench.logger)
        let provisioning = Task { await provisioner.run() }
        let made = try await Bench.seconds {
            while try await active(address) < events { try await Task.sleep(for: .milliseconds(20)) }
        }
        provisioning.cancel()
        listening.cancel()
        await provisioning.value
        await listening.value

        print("provisioning \(events) events, seconds")
        print("  declared in one go     \(Self.seconds(declared))")
        print("  creations at Apple     \(Self.seconds(creations))")
        print(
            "  every channel active   \(Self.seconds(made))  ratio \(Reconciling.ratio(made / creations)), "
                + "\(Int(Double(events) / made)) channels a second")
        print("  memory grown by \(Memory.peakMegabytes - before) MB at the peak, the simulator's channels included")
    }

    private func declare(_ audience: Audience) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<events {
                if number >= 8 { try await group.next() }
                group.addTask {
                    guard let key = EventKey(rawValue: "event-\(number)") else { throw Unfit(what: "key") }
                    _ = try await bench.events.put(
                        EventSpecification(key: key, name: "Match", audiences: [audience]), within: .all, by: .server,
                        if: .none, now: Date())
                }
            }
            try await group.waitForAll()
        }
    }

    private func active(_ address: APNsAddress) async throws -> Int {
        try await bench.pool.query(
            """
            select count(*) as active from channels
            where bundle_id = \(address.bundleID.rawValue) and state = 'active'
            """
        ).first?.decode(Int.self, "active") ?? 0
    }

    private static func seconds(_ seconds: Double) -> String { String(format: "%8.2f", seconds) }
}
