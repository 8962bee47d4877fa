internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import ServiceLifecycle

/// Creates the channels that events need, and deletes the channels that no event needs. Each round computes its work
/// from the database, so the reason for the round does not matter.
struct Provisioner: Service {
    let calls: ChannelCalls
    /// How long events keep their channels.
    let tenure: ChannelTenure
    let signals: WakeSignals
    let mayClaim: @Sendable () -> Bool

    /// The maximum number of calls to Apple at a time.
    private static let concurrency = 32
    /// `alignInterval` is the shortest time between two alignments of channels with events. `alignPauses` is the pause
    /// after an alignment, as a multiple of the alignment's duration. With 10,000 events an alignment takes 150 ms.
    /// Without pauses, alignments used a whole processor core, and the calls that declared the events needed this core.
    private static let alignInterval: Duration = .milliseconds(50)
    private static let alignPauses = 4
    /// The shortest time between two claims. Because of it, several calls that end at about the same time cause only one
    /// claim.
    private static let claimInterval: Duration = .milliseconds(5)
    /// The longest sleep. The poll after this sleep finds work whose signal was lost.
    private static let pollInterval: Duration = .seconds(5)

    private var channels: ChannelStore { calls.channels }
    private var logger: Logger { calls.logger }

    private func now() -> Date { calls.now() }

    /// Runs two loops. The first loop aligns the channels with the events. The second loop makes due calls to Apple, at
    /// most `concurrency` at a time. Slow calls to Apple never block the first loop.
    func run() async {
        let calling = WorkLoop(
            .init(places: Self.concurrency, rest: Self.claimInterval, pollInterval: Self.pollInterval),
            failure: "channels could not be claimed", logger: logger, now: calls.now, mayClaim: mayClaim,
            claim: claim, perform: perform)
        let aligning = WorkLoop<Never>(
            .init(
                rest: Self.alignInterval, restPerRound: Self.alignPauses, pollInterval: Self.pollInterval),
            failure: "channels could not be brought in line with the events", logger: logger, now: calls.now
        ) {
            // If alignment failed, calls from earlier alignments are still due.
            defer { calling.ring() }
            _ = try await channels.align(now: now(), tenure: tenure)
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
            now: now(), leasedUntil: calls.leasedUntil, limit: limit)
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
