package import FoundationEssentials
package import Grandstand
package import Logging
internal import ServiceLifecycle

/// Makes the channels that events ask for, and takes back those nobody needs. Level-triggered: each round recomputes
/// from the database what is to be done; what woke it does not matter.
package struct Provisioner: Service {
    private let channels: any ChannelStore
    private let calls: ChannelCalls
    private let signals: any WakeSignals
    private let settings: Settings
    private let now: @Sendable () -> Date
    private let logger: Logger

    package struct Settings: Sendable {
        /// Seconds an ended event's channel is kept at least.
        package var retireAfter: TimeInterval
        /// Seconds a call to Apple may take before another replica may take the channel over.
        package var lease: TimeInterval
        /// Calls to Apple at a time.
        package var concurrency = 32
        /// The longest sleep: finds what no signal told of.
        package var pollInterval: Duration = .seconds(5)

        package init(retireAfter: TimeInterval, lease: TimeInterval) {
            self.retireAfter = retireAfter
            self.lease = lease
        }
    }

    package init(
        channels: any ChannelStore, calls: ChannelCalls, signals: any WakeSignals, settings: Settings,
        now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.channels = channels
        self.calls = calls
        self.signals = signals
        self.settings = settings
        self.now = now
        self.logger = logger
    }

    package func run() async {
        let doorbell = Doorbell()
        let wakes = signals.wakes(.channels)
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in wakes { doorbell.ring() } }
                while !Task.isCancelled {
                    await doorbell.wait(atMost: await round())
                }
                group.cancelAll()
            }
        }
    }

    /// One round: align, then make every call that is due.
    ///
    /// - Returns: how long nothing will be due.
    func round() async -> Duration {
        do {
            _ = try await channels.align(now: now(), retireAfter: settings.retireAfter)
            while !Task.isCancelled {
                let tasks = try await channels.claimDue(
                    now: now(), leasedUntil: now().addingTimeInterval(settings.lease), limit: settings.concurrency)
                if tasks.isEmpty { break }
                await withTaskGroup(of: Void.self) { group in
                    for task in tasks { group.addTask { await perform(task) } }
                }
            }
            guard let due = try await channels.nextDue(now: now()) else { return settings.pollInterval }
            return min(settings.pollInterval, max(.milliseconds(20), .seconds(due.timeIntervalSince(now()))))
        } catch is CancellationError {
            return .zero
        } catch {
            logger.error("channels could not be looked after; trying again", metadata: ["error": "\(error)"])
            return .seconds(1)
        }
    }

    private func perform(_ task: ChannelTask) async {
        do {
            if task.channel.state == .creating {
                _ = try await calls.create(task, retries: true)
            } else {
                _ = try await calls.delete(task)
            }
        } catch {
            // The lease runs out and another round takes the channel up.
            logger.error(
                "a channel's outcome was not recorded",
                metadata: ["channel": "\(task.channel.id)", "error": "\(error)"])
        }
    }
}
