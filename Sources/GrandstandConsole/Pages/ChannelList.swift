internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// Channels of an app in an environment: the ledger's, or those that only Apple knows.
struct ChannelList: ConsolePage {
    var template: TemplateName { .channels }
    let title: String
    let bundleID: String
    let appHref: String
    let environment: String
    let reconciliationsHref: String
    let states: [Choice]
    let policies: [Choice]
    let eventKey: String
    let isUnmanaged: Bool
    let rows: [ChannelRow]
    let unmanaged: [UnmanagedRow]
    let pager: Pager
    let createAction: String
    let importAction: String
    let runHref: String

    /// The ledger's.
    init(
        _ app: AppEnvironment, _ page: Page<Channel>, _ filter: ChannelFilter, _ visit: Visit
    ) {
        let query = [
            ("state", filter.state?.rawValue), ("storagePolicy", filter.storagePolicy?.rawValue),
            ("eventKey", filter.eventKey?.rawValue), ("channelId", filter.channelID),
        ]
        self.init(
            app, filter: filter, rows: page.items.map { ChannelRow($0, of: app) }, unmanaged: [], isUnmanaged: false,
            pager: Pager(visit, query: query.map { (name: $0.0, value: $0.1) }, nextCursor: page.nextCursor))
    }

    /// Those that only Apple knows.
    init(_ app: AppEnvironment, unmanaged page: Page<UnmanagedChannel>, _ visit: Visit) {
        self.init(
            app, filter: ChannelFilter(), rows: [], unmanaged: page.items.map(UnmanagedRow.init), isUnmanaged: true,
            pager: Pager(visit, query: [(name: "managed", value: "false")], nextCursor: page.nextCursor))
    }

    private init(
        _ app: AppEnvironment, filter: ChannelFilter, rows: [ChannelRow], unmanaged: [UnmanagedRow],
        isUnmanaged: Bool, pager: Pager
    ) {
        title = "Channels of \(app.bundleID), \(app.environment.rawValue)"
        bundleID = app.bundleID.rawValue
        appHref = ConsolePath.app(app.bundleID)
        environment = app.environment.rawValue
        reconciliationsHref = ConsolePath.reconciliations(app)
        states = Choice.all(Channel.State.self, chosen: filter.state)
        policies = Choice.all(StoragePolicy.self, chosen: filter.storagePolicy)
        eventKey = filter.eventKey?.rawValue ?? ""
        self.isUnmanaged = isUnmanaged
        self.rows = rows
        self.unmanaged = unmanaged
        self.pager = pager
        createAction = ConsolePath.channels(app, "create")
        importAction = ConsolePath.channels(app, "import")
        runHref = ConsolePath.reconciliations(app)
    }
}

/// One channel of the ledger.
struct ChannelRow: Sendable {
    let id: String
    let channelID: String
    let storagePolicy: String
    let state: String
    let event: String
    let eventHref: String?
    let variant: String
    let label: String
    let reason: String
    let advice: String?
    let attempts: Int
    let nextAttemptAt: Moment?
    let createdAt: Moment
    let verifyAction: String
    let deleteHref: String
    /// What no event holds can be deleted; what one holds only by force.
    let forceHref: String
    /// Nothing of it is left to delete.
    let isDeleted: Bool

    init(_ channel: Channel, of app: AppEnvironment) {
        verifyAction = ConsolePath.channel(channel.id, of: app, "verify")
        deleteHref = ConsolePath.channel(channel.id, of: app, "delete")
        forceHref = ConsolePath.channel(channel.id, of: app, "force-delete")
        isDeleted = channel.state == .deleted
        id = channel.id.uuidString.lowercased()
        channelID = channel.channelID ?? ""
        storagePolicy = channel.storagePolicy.rawValue
        state = channel.state.rawValue
        event = channel.eventKey?.rawValue ?? ""
        eventHref = channel.eventKey.map(ConsolePath.event)
        variant = channel.variant?.rawValue ?? ""
        label = channel.label ?? ""
        reason = channel.reason ?? ""
        advice = channel.state == .active ? nil : Advice.channel(reason: channel.reason)
        attempts = channel.attempts
        nextAttemptAt = channel.nextAttemptAt.map { Moment($0) }
        createdAt = Moment(channel.createdAt)
    }
}

/// One channel of Apple's list that the ledger does not know.
struct UnmanagedRow: Sendable {
    let channelID: String
    let storagePolicy: String
    let firstSeenAt: Moment

    init(_ channel: UnmanagedChannel) {
        channelID = channel.channelID
        storagePolicy = channel.storagePolicy?.rawValue ?? "not asked yet"
        firstSeenAt = Moment(channel.firstSeenAt)
    }
}
