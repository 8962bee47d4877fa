package import FoundationEssentials
package import Grandstand
package import Logging
internal import ServiceLifecycle

/// Creates the channels that events need, and deletes the channels that no event needs. Each round computes its work
/// from the database, so the reason for the round does not matter.
package struct Provisioner: Service {
    private let channels: ChannelStore
    private let calls: ChannelCalls
    private let signals: WakeSignals
    private let settings: Settings
    private let now: @Sendable () -> Date
    private let mayClaim: @Sendable () -> Bool
    private let logger: Logger

    package struct Settings: Sendable {
        /// How long events keep their channels.
        package var tenure: ChannelTenure
        /// Seconds after which another replica may take over a channel whose replica died.
        package var lease: TimeInterval
        /// The maximum number of calls to Apple at a time.
        package var concurrency = 32
        /// `alignInterval` is the shortest time between two alignments of channels with events. `alignPauses` is the
        /// pause after an alignment, as a multiple of the alignment's duration. With 10,000 events an alignment takes
        /// 150 ms. Without pauses, alignments used a whole processor core, and the calls that declared the events
        /// needed this core.
        var alignInterval: Duration = .milliseconds(50)
        var alignPauses = 4
        /// The shortest time between two claims. Because of it, several calls that end at about the same time cause
        /// only one claim.
        var claimInterval: Duration = .milliseconds(5)
        /// The longest sleep. The poll after this sleep finds work whose signal was lost.
        var pollInterval: Duration = .seconds(5)

        package init(tenure: ChannelTenure, lease: TimeInterval) {
            self.tenure = tenure
            self.lease = lease
        }
    }

    package init(
        channels: ChannelStore, calls: ChannelCalls, signals: WakeSignals, settings: Settings,
        now: @escaping @Sendable () -> Date,
        mayClaim: @escaping @Sendable () -> Bool = { true }, logger: Logger
    ) {
        self.channels = channels
        self.calls = calls
        self.signals = signals
        self.settings = settings
        self.now = now
        self.mayClaim = mayClaim
        self.logger = logger
    }

    /// Runs two loops. The first loop aligns the channels with the events. The second loop makes due calls to Apple, at
    /// most `concurrency` at a time. Slow calls to Apple never block the first loop.
    package func run() async {
        let calling = WorkLoop(
            .init(places: settings.concurrency, rest: settings.claimInterval, pollInterval: settings.pollInterval),
            failure: "channels could not be claimed", logger: logger, now: now, mayClaim: mayClaim,
            claim: claim, perform: perform)
        let aligning = WorkLoop<Never>(
            .init(
                rest: settings.alignInterval, restPerRound: settings.alignPauses, pollInterval: settings.pollInterval),
            failure: "channels could not be brought in line with the events", logger: logger, now: now
        ) {
            // If alignment failed, calls from earlier alignments are still due.
            defer { calling.ring() }
            _ = try await channels.align(now: now(), tenure: settings.tenure)
            // The loop `calling` makes the calls that are due now. Each recorded result signals `.channels`, which
            // wakes the loop `aligning`.
            let next = try await channels.nextDue(now: now())
            return .idle(until: next.flatMap { $0 > now() ? $0 : nil })
        }
        async let calls: Void = calling.run()
        await aligning.run(wakenBy: signals.wakes(.channels))
        await calls
    }

    private func claim(atMost limit: Int) async throws -> Round<ChannelTask> {
        let tasks = try await channels.claimDue(
            now: now(), leasedUntil: now().addingTimeInterval(settings.lease), limit: limit)
        return try await .claimed(tasks) { try await channels.nextDue(now: now()) }
    }

    private func perform(_ task: ChannelTask) async {
        do {
            if task.channel.state == .creating {
                _ = try await calls.create(task, retries: true, by: .server)
            } else {
                _ = try await calls.delete(task, by: .server)
            }
        } catch {
            // The missing record is repaired later. A deletion is repeated in another round after the lease has ended.
            // A creation is found in Apple's list.
            logger.failed(
                "a channel's outcome was not recorded", error, ["channel": "\(task.channel.id.uuidString.lowercased())"]
            )
        }
    }
}
