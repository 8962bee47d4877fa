internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/apps/{bundleId}/{environment}/channels`: channels that people create, delete or import.
extension API {
    var channelRoutes: [Route] {
        let (apps, channels, operations) = (stores.apps, stores.channels, channelOperations)
        let recover: Route.Recovery = { id, context in
            try await channels.begun(id, of: try context.app()).map { .json(Contract.Channel($0), status: .created) }
        }
        return [
            Route(.createChannel, recover: recover) { request, context in
                let draft = try Contract.ChannelDraft.read(try await request.json())
                let channel = try await operations.create(draft, for: try context.app(), by: context.actor)
                return .json(Contract.Channel(channel), status: .created)
            },
            Route(.importChannel, recover: recover) { request, context in
                let app = try context.app()
                let wanted = try Contract.ChannelImport(body: try await request.json())
                let channel = try await operations.import(wanted, into: app, within: context.reach, by: context.actor)
                return .json(Contract.Channel(channel), status: .created)
            },
            Route(.listChannels) { _, context in
                let query = context.query
                let filter = ChannelFilter(
                    state: try query.choice("state"), storagePolicy: try query.choice("storagePolicy"),
                    eventKey: try query.read("eventKey", EventKey.rule, EventKey.init), channelID: query["channelId"])
                let isManaged = try query["managed"].map { _ throws(Problem) in try query.flag("managed") } ?? true
                // A channel outside the ledger has neither state nor event, so filters other than `managed` are refused.
                guard isManaged || filter == ChannelFilter() else {
                    throw Problem.invalid(
                        "managed=false can be combined only with limit and cursor.", at: "managed",
                        "Leave the other filters out.")
                }
                let part = try query.page()
                let app = try context.app()
                _ = try await apps.registered(app.bundleID)
                return .json(
                    isManaged
                        ? try await channels.channels(of: app, where: filter, part)
                        : try await channels.unmanagedChannels(of: app, part))
            },
            Route(.getChannel) { _, context in
                let verify = try context.query.flag("verify")
                let id = try context.id(orThrow: .channelNotFound)
                let channel = try await channels.recorded(id, of: try context.app(), among: apps)
                return .json(Contract.Channel(channel, verified: verify ? try await operations.verify(channel) : nil))
            },
            Route(.deleteChannel) { _, context in
                let force = try context.query.flag("force")
                let app = try context.app()
                let id = try context.id(orThrow: .channelNotFound)
                _ = try await apps.registered(app.bundleID)
                try await operations.delete(id, of: app, force: force, by: context.actor)
                return .noContent
            },
        ]
    }
}

extension Contract.ChannelImport {
    /// Reads the body of `POST …/channels/import`: a channel that another tool created.
    ///
    /// - Throws: `invalid-request`.
    init(body: JSONValue) throws(Problem) {
        self = try Self.read(body) { wanted, faults throws(Problem) in
            if wanted.variant != nil, wanted.eventKey == nil {
                faults.add("/variant", "variant is allowed only together with eventKey.")
            }
            return wanted
        }
    }
}
