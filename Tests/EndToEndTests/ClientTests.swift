internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandClient
internal import GrandstandTestKit
internal import Testing

/// The client's calls to the real server, with the simulator in Apple's place.
@Suite(.sharedStage, .timeLimit(.minutes(20)))
struct ClientTests {
    private static let content = #"{"z": 12345678901234567890, "a":1.50e3 , "ball":"\u26bd", "m": [1,  2]}"#

    private static func app(_ stage: Stage) -> GrandstandClient.AppEnvironment { .init(stage.bundleID, .development) }

    private static func putApp(_ stage: Stage) async throws {
        let draft = GrandstandClient.AppDraft(
            name: "Stadium", teamId: SimulatorIdentity.teamID, keyId: SimulatorIdentity.keyID, channelLimit: 10)
        let app = try await stage.client.send(.putApp(stage.bundleID, draft))
        #expect(app.topic == stage.bundleID.lowercased())
    }

    private static func draft(_ stage: Stage, _ name: String = "Derby") -> GrandstandClient.EventDraft {
        GrandstandClient.EventDraft(
            name: name,
            audiences: [
                .init(bundleId: stage.bundleID, environment: .development, storagePolicy: .mostRecentMessageStored)
            ], topics: ["team:rapid"])
    }

    private static func settled(_ id: String, _ client: GrandstandClient) async throws -> GrandstandClient.Broadcast {
        try await until("broadcast \(id) is done") {
            let broadcast = try await client.send(.getBroadcast(id))
            return broadcast.state == .done || broadcast.state == .cancelled ? broadcast : nil
        }
    }

    @Test func `the Swift client can declare, look up, update, end and reopen a match`() async throws {
        let stage = try await Stage.own()
        let client = stage.client
        try await Self.putApp(stage)
        var draft = Self.draft(stage)
        draft.metadata = try RawJSON(json: #"{"table": 1.50}"#)
        let declared = try await client.send(.putEvent(stage.event, draft).ifNoneExists())
        #expect(declared.metadata.description == #"{"table": 1.50}"#)
        // The channel is still being created; the client waits for it.
        let found = try await client.lookup(stage.event, in: Self.app(stage))
        #expect(found.channelId == stage.simulator.channels(of: stage.bundleID, in: .development).first?.id)

        let update = GrandstandClient.BroadcastDraft(
            event: .update, contentState: try RawJSON(json: Self.content), alert: .alert(title: "Tor", body: "1–0"))
        let accepted = try await client.send(.broadcast(to: stage.event, update))
        #expect(try await Self.settled(accepted.id, client).deliveries.map(\.state) == [.accepted])
        let sent = try await stage.sent(1)
        #expect(sent.first?.text.contains(#""content-state":\#(Self.content)"#) ?? false)
        let newest = try await client.lookup(stage.event, in: Self.app(stage), contentState: true)
        #expect(newest.contentState?.description == Self.content)
        #expect(try await client.send(.listBroadcasts(of: stage.event)).items.map(\.id) == [accepted.id])

        let end = try await client.send(.broadcast(to: stage.event, .init(event: .end)))
        _ = try await Self.settled(end.id, client)
        let over = await #expect(throws: ServerProblem.self) {
            try await client.lookup(stage.event, in: Self.app(stage))
        }
        #expect(over?.kind == .eventEnded)
        #expect(over?.status == 410)
        let reopened = try await client.send(.reopenEvent(stage.event))
        #expect(reopened.state == .live)
        #expect(reopened.channels.map(\.channel) == [.kept])
    }

    @Test func `with an app's key the Swift client lists, looks up and registers, and sends activities`() async throws {
        let stage = try await Stage.own()
        try await Self.putApp(stage)
        try await stage.client.send(.putEvent(stage.event, Self.draft(stage)))
        let key = try await stage.client.send(
            .createKey(name: "app", scopes: [.device], bundleId: stage.bundleID))
        let folder = try TemporaryFolder()
        let phone = GrandstandClient(
            server: try #require(URL(string: stage.url)), key: key.secret,
            cache: AnswerCache(folder: URL(filePath: folder.path).appending(path: "lookups")))
        let found = try await phone.lookup(stage.event, in: Self.app(stage))
        #expect(found.origin == .server)
        #expect(try await phone.lookup(stage.event, in: Self.app(stage)).origin == .cache)
        let list = try await phone.followables(in: Self.app(stage), topic: "team:rapid")
        #expect(list.items.map(\.eventKey) == [stage.event])
        #expect(list.items.map(\.topics) == [["team:rapid"]])
        let batch = try await phone.lookup([stage.event, "nope"], in: Self.app(stage))
        #expect(batch.items.map(\.channelId) == [found.channelId])
        #expect(batch.missing.map(\.reason) == [.eventNotFound])

        let identity = GrandstandClient.InstallationIdentity(new: Self.app(stage))
        let draft = GrandstandClient.InstallationDraft(
            sequence: 2, systemVersion: "18.4", locale: "de-AT",
            startTokens: [.init(attributesType: "Match", token: "80abcdef")], topics: ["team:rapid"])
        #expect(
            try await phone.send(.putInstallation(identity, draft)).installationId == identity.installationId)
        var older = draft
        older.sequence = 1
        let stale = await #expect(throws: ServerProblem.self) {
            try await phone.send(.putInstallation(identity, older))
        }
        #expect(stale?.kind == .staleInstallation)
        try await phone.send(
            .putActivity(
                "A1", of: identity,
                .init(eventKey: stage.event, attributesType: "Match", state: .active, channelId: found.channelId)))
        let shown = try await phone.send(.getInstallation(identity))
        #expect(shown.activities.map(\.activityId) == ["A1"])
        #expect(shown.topics == ["team:rapid"])
        let wrong = GrandstandClient.InstallationIdentity(
            app: Self.app(stage), installationId: identity.installationId,
            secret: GrandstandClient.InstallationIdentity(new: Self.app(stage)).secret)
        let stranger = await #expect(throws: ServerProblem.self) { try await phone.send(.getInstallation(wrong)) }
        #expect(stranger?.kind == .wrongInstallationSecret)

        #expect(try await stage.client.send(.installationStatistics(of: Self.app(stage))).installations == 1)
        #expect(try await stage.client.send(.listTopics(in: Self.app(stage))).items.map(\.followers) == [1])
        try await phone.send(.forgetActivity("A1", of: identity))
        try await phone.send(.forgetInstallation(identity))
        let gone = await #expect(throws: ServerProblem.self) { try await phone.send(.getInstallation(identity)) }
        #expect(gone?.kind == .installationNotFound)
        let forbidden = await #expect(throws: ServerProblem.self) { try await phone.send(.listEvents()) }
        #expect(forbidden?.kind == .forbidden)
    }
}
