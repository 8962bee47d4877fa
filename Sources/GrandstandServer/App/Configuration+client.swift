extension Configuration {
    /// The most connections of one pool.
    private var connectionsUnderLoad: Int { connections * 4 }

    /// The most broadcasts in flight in one environment. The flow-control windows of one connection hold about a
    /// hundred broadcasts (docs/internals/http2.md), and the pool opens more connections as they fill.
    var broadcastsUnderWay: Int { 100 * connectionsUnderLoad }

    /// The most pushes to devices in flight in one environment. It is half the number of broadcasts, so that a million
    /// starts leave processor time for the broadcast of a goal.
    var devicePushesUnderWay: Int { broadcastsUnderWay / 2 }

    func clientSettings() -> APNsClient.Settings {
        var settings = APNsClient.Settings(endpoints: endpoints)
        settings.trustRoots = trustRoots
        settings.connections = connections
        settings.maximumConnections = connectionsUnderLoad
        settings.requestTimeout = requestTimeout
        return settings
    }
}
