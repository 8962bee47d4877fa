internal import APNsWire
internal import Grandstand
internal import GrandstandService
internal import GrandstandStore
internal import Logging

/// The loops that send pushes to devices: starts of events, and updates to activities without a channel. Both share an
/// environment's places, so that a million starts do not make a crowd's goal wait for the last of them.
struct DeviceLoops: Sendable {
    let members: [ServerLoops.Member]

    init(
        _ configuration: Configuration, _ resources: ServerResources, _ parts: ServerParts,
        rates: [APNsEnvironment: SendRates], logger: Logger
    ) {
        let stores = parts.stores
        var settings = ShardSettings(lease: ServerLoops.lease, drain: resources.drain)
        settings.places = Self.places
        members = rates.flatMap { [settings] environment, rates in
            let pushes = DevicePushes(
                gateway: parts.apple.gateway, concurrency: configuration.devicePushesUnderWay, rates: rates,
                now: resources.now)
            func loop<Store: ShardStore>(
                _ store: Store, wokenBy topic: WakeTopic,
                onSettled: @escaping @Sendable ([TokenVerdict]) -> Void = { _ in }
            ) -> ShardDispatcher<Store> {
                ShardDispatcher(
                    environment: environment, store: store, pushes: pushes, signals: stores.signals, wakenBy: topic,
                    settings: settings, now: resources.now, mayClaim: resources.mayClaim, onSettled: onSettled,
                    logger: logger)
            }
            let starts = loop(stores.starts, wokenBy: .starts) { [counting = resources.counting] verdicts in
                for verdict in verdicts {
                    if let state = StartState(verdict) { counting(.started(state, reason: verdict.reason)) }
                }
            }
            return [
                ServerLoops.Member(.dispatch, starts, "starts"),
                ServerLoops.Member(.dispatch, loop(stores.crowds, wokenBy: .lanes(environment)), "crowds"),
            ]
        }
    }

    /// Runs, or lanes of crowds, worked on at a time.
    private static let places = 4
}
