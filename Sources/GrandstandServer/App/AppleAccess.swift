internal import FoundationEssentials
internal import Grandstand
internal import Logging

/// Everything that calls Apple: the client, the facts learned from its answers, and the calls that manage channels.
struct AppleAccess: Sendable {
    let gateway: APNsClient
    /// The client for the calls. It detects that Apple refuses a call because the capability is off.
    let watched: CapabilityWatch
    let calls: ChannelCalls
    let operations: ChannelOperations
    let reconciliation: Reconciliation
    /// Seconds after which another worker may take over a channel or a reconciliation, unless the present worker
    /// extends the lease.
    let channelLease = ServerLoops.lease

    init(_ configuration: Configuration, _ resources: ServerResources, _ stores: ServerStores, logger: Logger) {
        let now = resources.now
        var settings = configuration.clientSettings()
        settings.noteRefusal = { [apps = stores.apps] in try await apps.note($0, of: $1) }
        settings.metrics = resources.metrics.backend
        gateway = APNsClient(settings: settings, keys: resources.keyRing, now: resources.wallClock, logger: logger)
        let remember: RememberQuirk = { [apps = stores.apps] in try await apps.remember($0, for: $1) }
        watched = CapabilityWatch(gateway: gateway, remember: remember, now: now, logger: logger)
        let management = ManagementCalls(gateway: watched, remember: remember, now: now, logger: logger)
        calls = ChannelCalls(
            management: management, channels: stores.requests.channels,
            reconciliations: stores.requests.reconciliations,
            lease: channelLease,
            now: now, logger: logger)
        operations = ChannelOperations(
            management: management, channels: stores.requests.channels, calls: calls, lease: channelLease, now: now)
        reconciliation = Reconciliation(
            management: management, channelCalls: calls, store: stores.requests.reconciliations, lease: channelLease,
            now: now,
            counting: resources.counting, logger: logger)
    }
}
