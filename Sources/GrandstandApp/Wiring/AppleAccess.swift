internal import APNsClient
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandService
internal import GrandstandStore
internal import Logging

/// Everything that asks Apple: the client, what is learned from its answers, and the calls that manage channels.
struct AppleAccess: Sendable {
    let gateway: APNsClient
    /// The client as the calls use it: refusals because the capability is off are noticed.
    let watched: CapabilityWatch
    let examinations: Examinations
    let calls: ChannelCalls
    let operations: ChannelOperations
    let reconciliation: Reconciliation
    /// Seconds one channel's calls may take before another worker may take it over.
    let channelLease: TimeInterval

    init(_ configuration: Configuration, _ resources: ServerResources, _ stores: ServerStores, logger: Logger) {
        let now = resources.now
        var settings = configuration.clientSettings()
        settings.tokenStore = stores.providerTokens
        settings.metrics = resources.metrics.backend
        gateway = APNsClient(settings: settings, keys: resources.keyRing, now: resources.wallClock, logger: logger)
        let timeout = configuration.requestTimeout.seconds
        // A creation may wait for another caller's examination (which waits for another replica's and makes two calls),
        // read the list, make its own call, then delete a channel for its place, read the list and ask again.
        channelLease = 8 * timeout + 3
        watched = CapabilityWatch(gateway: gateway, quirks: stores.quirks, now: now, logger: logger)
        examinations = Examinations(
            quirks: stores.quirks,
            // Longer than two requests to APNs can take.
            lease: 2 * timeout + 3, timeout: timeout, now: now, logger: logger)
        let management = ManagementCalls(gateway: watched, examinations: examinations, now: now)
        calls = ChannelCalls(
            management: management, channels: stores.channels, reconciliations: stores.reconciliations,
            lease: channelLease,
            now: now, logger: logger)
        operations = ChannelOperations(
            management: management, channels: stores.channels, calls: calls, lease: channelLease, now: now)
        reconciliation = Reconciliation(
            management: management, channelCalls: calls, store: stores.reconciliations, lease: channelLease, now: now,
            counting: resources.counting, logger: logger)
    }
}
