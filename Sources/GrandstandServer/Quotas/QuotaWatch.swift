internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import ServiceLifecycle

/// Checks whether an app's quota reached another level, for webhooks that subscribe to quota levels. If there are no
/// such webhooks, it only checks whether there are any.
struct QuotaWatch: Service {
    let channels: ChannelStore
    let levels: QuotaLevels
    let signals: WakeSignals
    let settings: Settings
    let now: @Sendable () -> Date
    let logger: Logger

    struct Settings: Sendable {
        /// How long events hold their channels, for the quota's forecast.
        var tenure: ChannelTenure
        /// The shortest time between two checks. Each check counts all channels.
        var pause: Duration = .seconds(1)
        /// The longest sleep.
        var pollInterval: Duration = .seconds(30)
    }

    func run() async {
        let loop = WorkLoop<Never>(
            .init(rest: settings.pause, pollInterval: settings.pollInterval, retry: .seconds(5)),
            failure: "quota levels could not be checked", logger: logger, now: now
        ) {
            if try await levels.areWatched() {
                try await levels.note(
                    try await channels.quotas(now: now(), tenure: settings.tenure), now: now())
            }
            return .idle()
        }
        await loop.run(wakenBy: signals.wakes(.channels), signals.wakes(.webhooks))
    }
}
