internal import APNsClient

extension Configuration {
    /// The most connections of one pool.
    private var connectionsUnderLoad: Int { connections * 4 }

    /// The most broadcasts in flight in one environment. The windows of a connection hold about a hundred
    /// (docs/internals/http2.md), and the pool grows as they fill.
    var broadcastsUnderWay: Int { 100 * connectionsUnderLoad }

    /// The most pushes to devices in flight in one environment: half as many, so that a million starts also leave
    /// processor time for a goal.
    var devicePushesUnderWay: Int { broadcastsUnderWay / 2 }

    /// The settings of the APNs client.
    func clientSettings() -> APNsClient.Settings {
        var settings = APNsClient.Settings(endpoints: endpoints)
        settings.trustRoots = trustRoots
        settings.proxies = proxies
        settings.connections = connections
        settings.maximumConnections = connectionsUnderLoad
        settings.requestTimeout = requestTimeout
        return settings
    }
}
