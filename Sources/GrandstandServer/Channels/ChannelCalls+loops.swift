internal import FoundationEssentials
internal import Grandstand
internal import Logging

// The loops that create the channels that events need, and delete the channels that no event needs. Slow calls to Apple
// never block the alignment.
extension ChannelCalls {
    /// Makes due calls to Apple. The rest between claims lets several calls that end at about the same time cause only
    /// one claim.
    func calling(mayClaim: @escaping @Sendable () -> Bool) -> WorkLoop<ChannelTask> {
        WorkLoop(
            .init(places: 32, rest: .milliseconds(5), pollInterval: .seconds(5)),
            failure: "channels could not be claimed", logger: logger, now: now, mayClaim: mayClaim,
            claim: { limit in
                let tasks = try await channels.claimDue(now: now(), leasedUntil: leasedUntil, limit: limit)
                return try await .claimed(tasks) { try await channels.nextDue(now: now()) }
            }, perform: perform)
    }

    /// Aligns the channels with the events. With 10,000 events an alignment takes 150 ms. Without its rests, alignments
    /// used a whole processor core, and the calls that declared the events needed this core.
    ///
    /// - Parameters:
    ///   - tenure: how long events keep their channels.
    ///   - calling: makes the calls that are due now. Each recorded result signals `.channels`, which wakes this loop.
    func aligning(_ tenure: ChannelTenure, waking calling: WorkLoop<ChannelTask>) -> WorkLoop<Never> {
        WorkLoop(
            .init(rest: .milliseconds(50), restPerRound: 4, pollInterval: .seconds(5)),
            failure: "channels could not be brought in line with the events", logger: logger, now: now
        ) { _ in
            // If alignment failed, calls from earlier alignments are still due.
            defer { calling.ring() }
            _ = try await channels.align(now: now(), tenure: tenure)
            let next = try await channels.nextDue(now: now())
            return .idle(until: next.flatMap { $0 > now() ? $0 : nil })
        }
    }

    @Sendable private func perform(_ task: ChannelTask) async {
        do {
            if task.channel.state == .creating {
                _ = try await create(task, retries: true, by: .server)
            } else {
                _ = try await delete(task, by: .server)
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
