internal import APNsClient

extension Configuration {
    /// What a client of APNs is made with.
    func clientSettings() -> APNsClient.Settings {
        var settings = APNsClient.Settings(endpoints: endpoints)
        settings.trustRoots = trustRoots
        settings.proxies = proxies
        settings.connections = connections
        settings.maximumConnections = connections * 4
        settings.requestTimeout = requestTimeout
        return settings
    }
}
