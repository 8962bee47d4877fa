internal import APNsWire
internal import Grandstand
internal import Logging
internal import ServiceLifecycle

/// The loops that push to devices: one for starts of events, and one for updates to activities by token. They are
/// separate, so that an update about a goal does not wait until a million starts are sent. Both loops of an environment
/// share its limit of simultaneous pushes.
struct DeviceLoops: Sendable {
    let members: [ServerLoops.Member]

    init(
        _ configuration: Configuration, _ resources: ServerResources, _ parts: ServerParts,
        rates: [APNsEnvironment: SendRates], accounts: [APNsEnvironment: SendAccounts], keys: KeyWatch, logger: Logger
    ) {
        let stores = parts.stores
        var settings = ShardSettings(lease: ServerLoops.lease, drain: resources.drain)
        settings.places = Self.places
        members = rates.flatMap { [settings] environment, rates in
            let pushes = DevicePushes(
                gateway: parts.apple.gateway, concurrency: configuration.devicePushesUnderWay, rates: rates,
                accounts: accounts[environment], keys: keys, now: resources.now)
            func loop<Store: ShardStore>(
                _ store: Store, wokenBy topic: WakeTopic,
                onSettled: @escaping @Sendable ([TokenVerdict]) -> Void = { _ in }
            ) -> any Service {
                ShardDispatcher(
                    environment: environment, store: store, pushes: pushes, signals: stores.signals, wakenBy: topic,
                    settings: settings, now: resources.now, mayClaim: resources.mayClaim, onSettled: onSettled,
                    logger: logger)
            }
            let starts = loop(stores.requests.starts, wokenBy: .starts) { [counting = resources.counting] verdicts in
                for verdict in verdicts {
                    if let state = StartState(verdict) { counting(.started(state, reason: verdict.reason)) }
                }
            }
            return [
                ServerLoops.Member(.dispatch, starts, "starts"),
                ServerLoops.Member(.dispatch, loop(stores.crowds, wokenBy: .crowds(environment)), "crowds"),
            ]
        }
    }

    /// The most shards that one loop has in progress at a time. Each run of an event's starts in one app and
    /// environment has at most one shard in progress. Each lane of an audience whose activities have tokens also has at
    /// most one. The shards of a loop therefore come from different runs or lanes.
    private static let places = 4
}
