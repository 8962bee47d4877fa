internal import APNsWire
internal import Grandstand

/// `/console/apps/{bundleId}/{environment}/channels`
struct ChannelPages: PageGroup {
    let apps: AppStore
    let channels: ChannelStore

    var routes: [PageRoute] { [PageRoute("/apps/:bundleId/:environment/channels", .operate, list)] }

    private func list(_ visit: Visit) async throws -> PageRoute.Answer {
        let app = try visit.app()
        _ = try await apps.registered(app.bundleID)
        let isUnmanaged =
            try visit.query.read("managed", "true or false was expected.") { text in
                text == "false" ? true : text == "true" ? false : nil
            } ?? false
        if isUnmanaged {
            let page = try await channels.unmanagedChannels(of: app, visit.page)
            return .page(ChannelList(app, unmanaged: page, visit))
        }
        let filter = ChannelFilter(
            state: try visit.query.choice("state"), storagePolicy: try visit.query.choice("storagePolicy"),
            eventKey: try visit.query.read("eventKey", EventKey.rule, EventKey.init),
            channelID: visit.query["channelId"])
        let page = try await channels.channels(of: app, where: filter, visit.page)
        return .page(ChannelList(app, page, filter, visit))
    }
}
