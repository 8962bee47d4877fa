internal import APNsClient

extension Configuration {
    /// Connections of a pool under load.
    private var connectionsUnderLoad: Int { connections * 4 }

    /// Broadcasts under way at a time in each environment: a connection's windows hold about a hundred
    /// (docs/internals/http2.md), and the pool grows as they are filled.
    var broadcastsUnderWay: Int { 100 * connectionsUnderLoad }

    /// Pushes to devices under way at a time, in one environment: half as many, so that a million starts leave a goal
    /// the processor, too.
    var devicePushesUnderWay: Int { broadcastsUnderWay / 2 }

    /// The configuration of a client of APNs.
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
