internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The console's forms that change channels.
struct ChannelForms: PageGroup {
    let apps: AppStore
    let channels: ChannelStore
    let operations: ChannelCalls

    private static let base = "/apps/:bundleId/:environment/channels"

    var routes: [PageRoute] {
        [
            PageRoute(Self.base + "/:id/delete", .operate) { try await askToDelete($0, byForce: false) },
            PageRoute(Self.base + "/:id/force-delete", .operate) { try await askToDelete($0, byForce: true) },
        ]
    }

    var actions: [ActionRoute] {
        [
            ActionRoute(Self.base + "/create", .operate, create),
            ActionRoute(Self.base + "/import", .operate, importChannel),
            ActionRoute(Self.base + "/:id/verify", .operate, verify),
            ActionRoute(Self.base + "/:id/delete", .operate, irreversible: true) {
                try await delete($0, byForce: false)
            },
            ActionRoute(Self.base + "/:id/force-delete", .operate, irreversible: true) {
                try await delete($0, byForce: true)
            },
        ]
    }

    private func askToDelete(_ visit: Visit, byForce: Bool) async throws -> PageRoute.Answer {
        let app = try visit.app()
        let channel = try await channels.recorded(try visit.id(orThrow: .channelNotFound), of: app, among: apps)
        let words =
            byForce
            ? [
                "Deletes the channel at Apple although an event uses it. Activities that follow it get nothing more. "
                    + "An event that goes on gets another channel. Only apps that look the event up again find it.",
                "Apple cannot give a channel back.",
            ]
            : [
                "Deletes the channel at Apple. Whoever follows it gets nothing more; Apple cannot give a channel back.",
                "A channel that an event uses cannot be deleted here: end or cancel the event, and the channel "
                    + "retires by itself.",
            ]
        return .page(
            Question(
                byForce ? "Delete the channel by force?" : "Delete the channel?", words,
                facts: [
                    Fact("ID", .code(channel.id.uuidString.lowercased())),
                    Fact("Apple's ID", channel.channelID.map(Piece.code) ?? .words("none yet")),
                    Fact("State", .state(channel.state.rawValue)),
                    Fact("Event", .event(channel.eventKey, else: "none")),
                ], choices: [Question.Option(byForce ? "Delete it by force" : "Delete it")], irreversible: true,
                action: ConsolePath.channel(channel.id, of: app, byForce ? "force-delete" : "delete"),
                back: ("Keep it", ConsolePath.channels(app))))
    }

    private func delete(_ submission: Submission, byForce: Bool) async throws -> PageRoute.Answer {
        let visit = submission.visit
        let app = try visit.app()
        let id = try visit.id(orThrow: .channelNotFound)
        let caller = try visit.caller(of: .deleteChannel)
        do {
            _ = try await apps.registered(app.bundleID)
            try await operations.delete(id, of: app, force: byForce, by: caller.actor)
        } catch let problem as Problem where [.channelNotFound, .appNotFound].contains(problem.kind) {
            // The channel is already deleted: the form was sent twice.
        }
        return .done(ConsolePath.channels(app), notice: "The channel is deleted.")
    }

    private func verify(_ submission: Submission) async throws -> PageRoute.Answer {
        let visit = submission.visit
        let app = try visit.app()
        _ = try visit.caller(of: .getChannel)
        let channel = try await channels.recorded(try visit.id(orThrow: .channelNotFound), of: app, among: apps)
        let verification = try await operations.verify(channel)
        let policy = verification.storagePolicy.map { ", with \($0.rawValue)" } ?? ""
        return .done(
            ConsolePath.channels(app),
            notice: verification.exists ? "Apple has the channel\(policy)." : "Apple does not have the channel.")
    }

    private func create(_ submission: Submission) async throws -> PageRoute.Answer {
        let app = try submission.visit.app()
        let draft = try Contract.ChannelDraft.read(
            try .body { object in
                object.member("storagePolicy", submission.fields["storagePolicy"] ?? "")
                if let label = submission.fields["label"] { object.member("label", label) }
            })
        let made = try await submission.once(
            .createChannel, recover: { try await channels.begun($0, of: app).map { Contract.Channel($0) } },
            { Contract.Channel(try await operations.create(draft, for: app, by: $0.actor)) })
        return .done(ConsolePath.channels(app), notice: "Apple has made the channel \(made.channelId ?? "").")
    }

    private func importChannel(_ submission: Submission) async throws -> PageRoute.Answer {
        let app = try submission.visit.app()
        let fields = submission.fields
        let wanted = try Contract.ChannelImport(
            body: try .body { object in
                object.member("channelId", fields["channelId"] ?? "")
                if let key = fields["eventKey"] { object.member("eventKey", key) }
                if let variant = fields["variant"] { object.member("variant", variant) }
            })
        _ = try await submission.once(
            .importChannel, recover: { try await channels.begun($0, of: app).map { Contract.Channel($0) } },
            { Contract.Channel(try await operations.import(wanted, into: app, within: $0.reach, by: $0.actor)) })
        return .done(
            ConsolePath.channels(app), notice: "The channel is in the ledger, its storage policy read from Apple.")
    }
}
