internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// The channels of an app in one environment: those in the ledger, or those that only Apple lists.
struct ChannelList: ConsolePage {
    var template: TemplateName { .channels }
    let title: String
    let appHref: String
    let reconciliationsHref: String
    let states: [Choice]
    let policies: [Choice]
    let eventKey: String
    let isUnmanaged: Bool
    let channels: Table
    let pager: Pager
    let createAction: String

    /// The channels in the ledger.
    init(
        _ app: AppEnvironment, _ page: Page<Channel>, _ filter: ChannelFilter, _ visit: Visit
    ) {
        let query = [
            ("state", filter.state?.rawValue), ("storagePolicy", filter.storagePolicy?.rawValue),
            ("eventKey", filter.eventKey?.rawValue), ("channelId", filter.channelID),
        ]
        self.init(
            app, filter: filter, Self.ledger(page.items, of: app), isUnmanaged: false,
            pager: Pager(visit, query: query.map { (name: $0.0, value: $0.1) }, nextCursor: page.nextCursor))
    }

    /// The channels that only Apple lists.
    init(_ app: AppEnvironment, unmanaged page: Page<UnmanagedChannel>, _ visit: Visit) {
        self.init(
            app, filter: ChannelFilter(), Self.unmanaged(page.items, of: app), isUnmanaged: true,
            pager: Pager(visit, query: [(name: "managed", value: "false")], nextCursor: page.nextCursor))
    }

    private init(_ app: AppEnvironment, filter: ChannelFilter, _ channels: Table, isUnmanaged: Bool, pager: Pager) {
        title = "Channels of \(app.bundleID), \(app.environment.rawValue)"
        appHref = ConsolePath.app(app.bundleID)
        reconciliationsHref = ConsolePath.reconciliations(app)
        states = Choice.all(Channel.State.self, chosen: filter.state)
        policies = Choice.all(StoragePolicy.self, chosen: filter.storagePolicy)
        eventKey = filter.eventKey?.rawValue ?? ""
        self.isUnmanaged = isUnmanaged
        self.channels = channels
        self.pager = pager
        createAction = ConsolePath.channels(app, "create")
    }

    private static func ledger(_ channels: [Channel], of app: AppEnvironment) -> Table {
        Table(
            "Channels of the ledger", nothing: "No channel fits.", channels,
            [
                Column("ID") { [.code($0.id.uuidString.lowercased())] },
                Column("Apple's ID") { [.code($0.channelID ?? "")] }, Column("State") { [.state($0.state.rawValue)] },
                Column("Storage policy") { [.words($0.storagePolicy.rawValue)] },
                Column("Event") { [.event($0.eventKey)] }, Column("Variant") { [.words($0.variant?.rawValue ?? "")] },
                Column("Label") { [.quoted($0.label ?? "")] },
                Column("Why") { Advice.pieces($0.reason, isActive: $0.state == .active) },
                Column("Next step") { [.moment($0.nextAttemptAt)] }, Column("Created") { [.moment($0.createdAt)] },
                // A channel without an event can be deleted. A channel of an event can only be deleted by force.
                Column("Do") { channel in
                    func path(_ verb: String) -> String { ConsolePath.channel(channel.id, of: app, verb) }
                    let verify = Piece.form(.init(action: path("verify"), button: "Ask Apple"))
                    guard channel.state != .deleted else { return [verify] }
                    return [verify, .link("Delete…", path("delete")), .link("Force…", path("force-delete"))]
                },
            ])
    }

    private static func unmanaged(_ channels: [UnmanagedChannel], of app: AppEnvironment) -> Table {
        Table(
            "Channels that Apple lists and the ledger does not know",
            nothing: "At the last reconciliation Apple listed no channel that the ledger does not know.", channels,
            [
                Column("Apple's ID") { [.code($0.channelID)] },
                Column("Storage policy") { [.words($0.storagePolicy?.rawValue ?? "not asked yet")] },
                Column("First seen") { [.moment($0.firstSeenAt)] },
                Column("Do") { channel in
                    [
                        .form(
                            .init(
                                action: ConsolePath.channels(app, "import"), button: "Import",
                                hidden: [.init(name: "channelId", value: channel.channelID)],
                                typed: [
                                    .init(name: "eventKey", value: "For the event"),
                                    .init(name: "variant", value: "Variant"),
                                ]))
                    ]
                },
            ])
    }
}
