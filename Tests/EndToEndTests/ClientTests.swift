internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandClient
internal import GrandstandTestKit
internal import Testing

/// The client's calls to the real server, with the simulator in Apple's place.
@Suite(.timeLimit(.minutes(5)))
struct ClientTests {
    private static let app = GrandstandClient.AppEnvironment(Stage.bundleID, .development)
    private static let content = #"{"z": 12345678901234567890, "a":1.50e3 , "ball":"\u26bd", "m": [1,  2]}"#

    private static func putApp(_ client: GrandstandClient) async throws {
        let draft = GrandstandClient.AppDraft(
            name: "Stadium", teamId: SimulatorIdentity.teamID, keyId: SimulatorIdentity.keyID, channelLimit: 10)
        let app = try await client.send(.putApp(Stage.bundleID, draft))
        #expect(app.topic == Stage.bundleID.lowercased())
    }

    private static func draft(_ name: String = "Derby") -> GrandstandClient.EventDraft {
        GrandstandClient.EventDraft(
            name: name,
            audiences: [
                .init(bundleId: Stage.bundleID, environment: .development, storagePolicy: .mostRecentMessageStored)
            ], topics: ["team:rapid"])
    }

    private static func settled(_ id: String, _ client: GrandstandClient) async throws -> GrandstandClient.Broadcast {
        try await until("broadcast \(id) is done") {
            let broadcast = try await client.send(.getBroadcast(id))
            return broadcast.state == .done || broadcast.state == .cancelled ? broadcast : nil
        }
    }

    @Test func `the Swift client can declare, look up, update, stream, end and reopen a match`() async throws {
        try await Stage.with { stage in
            let client = stage.client
            try await Self.putApp(client)
            var draft = Self.draft()
            draft.metadata = try RawJSON(json: #"{"table": 1.50}"#)
            let declared = try await client.send(.putEvent("derby", draft).ifNoneExists())
            #expect(declared.metadata.description == #"{"table": 1.50}"#)
            // The channel is still being created; the client waits for it.
            let found = try await client.lookup("derby", in: Self.app)
            #expect(found.channelId == stage.simulator.channels(of: Stage.bundleID, in: .development).first?.id)

            let stream = client.stream("derby")
            var updates = stream.makeAsyncIterator()
            guard case .snapshot(let board)? = try await updates.next()?.content else {
                Issue.record("the stream does not begin with a snapshot")
                return
            }
            #expect(board.broadcasts.isEmpty)

            let update = GrandstandClient.BroadcastDraft(
                event: .update, contentState: try RawJSON(json: Self.content), alert: .init(title: "Tor", body: "1–0"))
            let accepted = try await client.send(.broadcast(to: "derby", update))
            #expect(try await Self.settled(accepted.id, client).deliveries.map(\.state) == [.accepted])
            let sent = try await stage.sent(1)
            #expect(sent.first?.text.contains(#""content-state":\#(Self.content)"#) ?? false)
            while let update = try await updates.next() {
                guard case .broadcast(let broadcast) = update.content, broadcast.state == .done else { continue }
                #expect(broadcast.id == accepted.id)
                break
            }
            let newest = try await client.lookup("derby", in: Self.app, contentState: true)
            #expect(newest.contentState?.description == Self.content)
            #expect(try await client.send(.listBroadcasts(of: "derby")).items.map(\.id) == [accepted.id])

            let end = try await client.send(.broadcast(to: "derby", .init(event: .end)))
            _ = try await Self.settled(end.id, client)
            let over = await #expect(throws: ServerProblem.self) { try await client.lookup("derby", in: Self.app) }
            #expect(over?.kind == .eventEnded)
            #expect(over?.status == 410)
            let reopened = try await client.send(.reopenEvent("derby"))
            #expect(reopened.state == .live)
            #expect(reopened.channels.map(\.channel) == [.kept])
        }
    }

    @Test func `the Swift client makes conditional changes, and a repeated POST has its effect only once`() async throws
    {
        try await Stage.with { stage in
            let client = stage.client
            try await Self.putApp(client)
            try await client.send(.putEvent("derby", Self.draft()))
            let read = try await client.reply(to: .getEvent("derby"))
            let tag = try #require(read.entityTag)
            try await client.send(.putEvent("derby", Self.draft("Other")).ifMatch(tag))
            let late = await #expect(throws: ServerProblem.self) {
                try await client.send(.putEvent("derby", Self.draft("Third")).ifMatch(tag))
            }
            #expect(late?.kind == .versionMismatch)
            let patched = try await client.send(.patchEvent("derby", try RawJSON(json: #"{"kind": "football"}"#)))
            #expect(patched.name == "Other")
            #expect(patched.kind == "football")
            #expect(try await client.send(.listEvents(kind: "football")).items.map(\.key) == ["derby"])

            let call = GrandstandClient.Call<GrandstandClient.Broadcast>.broadcast(
                to: "derby", .init(event: .update, contentState: try RawJSON(json: "{}")))
            let first = try await client.reply(to: call)
            let second = try await client.reply(to: call)
            #expect(first.id == second.id)
            #expect([first.isReplayed, second.isReplayed] == [false, true])

            let batch = try await client.send(
                .broadcastMany([
                    .init(eventKey: "derby", .init(event: .update, contentState: try RawJSON(json: "{}"))),
                    .init(eventKey: "nope", .init(event: .end)),
                ]))
            guard case .accepted = batch.items.first, case .refused(let refused) = batch.items.last else {
                Issue.record("\(batch)")
                return
            }
            #expect(ServerProblem(refused.problem).kind == .eventNotFound)
            let wrong = await #expect(throws: ServerProblem.self) {
                try await client.send(.putEvent("derby", json: try RawJSON(json: #"{"nmae": 1}"#)))
            }
            #expect(wrong?.errors.contains { $0.pointer == "/nmae" } ?? false)
        }
    }

    @Test func `with an app's key the Swift client lists, looks up and registers, and sends activities and receipts`()
        async throws
    {
        try await Stage.with { stage in
            try await Self.putApp(stage.client)
            try await stage.client.send(.putEvent("derby", Self.draft()))
            let key = try await stage.client.send(
                .createKey(name: "app", scopes: [.device], bundleId: Stage.bundleID))
            let folder = try TemporaryFolder()
            let phone = GrandstandClient(
                server: try #require(URL(string: stage.url)), key: key.secret,
                cache: AnswerCache(folder: URL(filePath: folder.path).appending(path: "lookups")))
            let found = try await phone.lookup("derby", in: Self.app)
            #expect(found.origin == .server)
            #expect(try await phone.lookup("derby", in: Self.app).origin == .cache)
            let list = try await phone.followables(in: Self.app, topic: "team:rapid")
            #expect(list.items.map(\.eventKey) == ["derby"])
            #expect(list.items.map(\.topics) == [["team:rapid"]])
            let batch = try await phone.lookup(["derby", "nope"], in: Self.app)
            #expect(batch.items.map(\.channelId) == [found.channelId])
            #expect(batch.missing.map(\.reason) == [.eventNotFound])

            let identity = GrandstandClient.InstallationIdentity(new: Self.app)
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
                    .init(eventKey: "derby", attributesType: "Match", state: .active, channelId: found.channelId)))
            let shown = try await phone.send(.getInstallation(identity))
            #expect(shown.activities.map(\.activityId) == ["A1"])
            #expect(shown.topics == ["team:rapid"])
            let receipts = try await phone.send(
                .recordReceipts(
                    [.init(eventKey: "derby", timestamp: 5, shownAt: Date())], of: identity, sentAt: Date()))
            #expect(receipts.recorded + receipts.ignored == 1)
            let wrong = GrandstandClient.InstallationIdentity(
                app: Self.app, installationId: identity.installationId,
                secret: GrandstandClient.InstallationIdentity(new: Self.app).secret)
            let stranger = await #expect(throws: ServerProblem.self) { try await phone.send(.getInstallation(wrong)) }
            #expect(stranger?.kind == .wrongInstallationSecret)

            #expect(try await stage.client.send(.installationStatistics(of: Self.app)).installations == 1)
            #expect(try await stage.client.send(.listTopics(in: Self.app)).items.map(\.followers) == [1])
            #expect((0...1).contains(try await stage.client.send(.eventReceipts("derby")).share))
            try await phone.send(.forgetActivity("A1", of: identity))
            try await phone.send(.forgetInstallation(identity))
            let gone = await #expect(throws: ServerProblem.self) { try await phone.send(.getInstallation(identity)) }
            #expect(gone?.kind == .installationNotFound)
            let forbidden = await #expect(throws: ServerProblem.self) { try await phone.send(.listEvents()) }
            #expect(forbidden?.kind == .forbidden)
        }
    }

    @Test func `the Swift client operates channels, quotas, reconciliations, webhooks, keys and the audit log`()
        async throws
    {
        try await Stage.with(settings: WebhookTests.settings) { stage in
            let client = stage.client
            try await Self.putApp(client)
            let channel = try await client.send(
                .createChannel(in: Self.app, storagePolicy: .noMessageStored, label: "by hand"))
            let id = try #require(channel.id)
            #expect(try await client.send(.getChannel(id, in: Self.app, verify: true)).verified?.exists == true)
            #expect(try await client.send(.listChannels(in: Self.app, state: .active)).items.map(\.id) == [id])
            let quota = try await client.send(.listQuotas()).items.first { $0.environment == .development }
            #expect(quota?.used == 1)
            #expect(quota?.limit == 10)
            // A reconciliation that the server started itself may be running.
            let report = try await until("a reconciliation ran") { () -> GrandstandClient.Reconciliation? in
                do {
                    return try await client.send(.reconcile(Self.app))
                } catch let problem as ServerProblem where problem.kind == .reconciliationRunning {
                    return nil
                }
            }
            #expect(report.matched == 1)
            #expect(try await client.send(.getReconciliation(report.id, of: Self.app)).id == report.id)
            try await client.send(.deleteChannel(id, in: Self.app))

            let hook = try await client.send(
                .createWebhook(.init(url: "http://127.0.0.1:9/", topics: [.quotaLevel, .channelMissing])))
            #expect(hook.secret.hasPrefix("whsec_"))
            let changed = try await client.send(
                .putWebhook(hook.id, .init(url: hook.url, topics: [.quotaLevel], enabled: false)))
            #expect(changed.enabled == false)
            try await client.send(.deleteWebhook(hook.id))

            let key = try await client.send(.createKey(name: "organiser", scopes: [.organise]))
            let next = try await client.send(.rotateKey(key.id, overlapSeconds: 0))
            #expect(try await client.send(.getKey(key.id)).replacedBy == next.id)
            try await client.send(.revokeKey(next.id))
            var names: Set<String> = []
            for try await key in client.entries(of: .listKeys().page(limit: 1)) { names.insert(key.name) }
            #expect(names.contains("organiser"))

            let entries = try await client.send(.listAuditLog(action: .channelDeleted)).items
            #expect(entries.map(\.channel) == [id])
            #expect(try await client.send(.health()).status.isEmpty == false)
            #expect(try await client.send(.readiness()).status == .ready)
            #expect(try await client.send(.metrics()).contains("# TYPE grandstand_http_requests_total counter"))
            #expect(try await client.send(.contract()).hasPrefix("openapi: 3.1"))
        }
    }

    @Test func `the command line watches a match, waits for results and fits tables to the terminal`() async throws {
        try await Stage.with { stage in
            try await Self.putApp(stage.client)
            func grandstand(_ columns: String, _ arguments: String...) async throws -> Program.Output {
                try await Program.run(
                    Bundle.main.bundleURL.appending(path: "grandstand"), arguments,
                    environment: [
                        "GRANDSTAND_URL": stage.url, "GRANDSTAND_API_KEY": stage.api.secret ?? "", "COLUMNS": columns,
                    ])
            }
            let audience = "\(Stage.bundleID):development:noMessageStored"
            let put = try await grandstand(
                "200", "event", "put", "derby", "--name", "Derby", "--audience", audience, "--topic", "team:rapid",
                "--wait")
            #expect(put.exitCode == 0, "\(put.text)")
            #expect(put.text.contains("channels: 1 of 1"))
            let sent = try await grandstand(
                "200", "broadcast", "send", "derby", "--content-state", "{}", "--wait")
            #expect(sent.text.contains("1 accepted"), "\(sent.text)")
            let wide = try await grandstand("200", "event", "list")
            #expect(wide.text.contains("key    state"))
            let narrow = try await grandstand("30", "event", "list")
            #expect(narrow.text.contains("\nname"), "\(narrow.text)")
            #expect(narrow.text.split(separator: "\n").allSatisfy { $0.count <= 40 })
            let list = try await grandstand("200", "lookup", Stage.bundleID, "development", "--topic", "team:rapid")
            #expect(list.text.contains("derby"), "\(list.text)")
            let patched = try await grandstand("200", "event", "patch", "derby", #"{"kind": "cup"}"#, "--json")
            #expect(patched.text.contains(#""kind":"cup""#), "\(patched.text)")
            let flagged = try await grandstand(
                "200", "event", "patch", "derby", "--name", "Final", "--topic", "team:austria",
                "--channels-open-before",
                "60", "--starts-at", "2099-01-01T00:00:00Z", "--fields", #"{"kind": null}"#, "--json")
            #expect(flagged.exitCode == 0, "\(flagged.text)")
            let event = try await stage.api("GET", "/v1/events/derby").json
            #expect(event["name"]?.string == "Final")
            #expect(event["kind"]?.string == nil)
            #expect(event["topics"]?.items.compactMap(\.string) == ["team:austria"])
            #expect(event["channelsOpenBefore"]?.int == 60)
            #expect(event["audiences"]?.items.count == 1)
            let both = try await grandstand(
                "200", "event", "patch", "derby", #"{"name": "Cup", "kind": "cup"}"#, "--name", "Semifinal", "--wait")
            #expect(both.text.contains("channels: 1 of 1"), "\(both.text)")
            let last = try await stage.api("GET", "/v1/events/derby").json
            #expect((last["name"]?.string, last["kind"]?.string) == ("Semifinal", "cup"))
            let nothing = try await grandstand("200", "event", "patch", "derby")
            #expect(nothing.exitCode != 0 && nothing.text.contains("nothing to change"), "\(nothing.text)")
            #expect(try await grandstand("200", "server", "ready").exitCode == 0)
            #expect(try await grandstand("200", "audit", "--action", "event.created").text.contains("derby"))
            let gone = try await grandstand("200", "event", "get", "nope", "--watch")
            #expect(gone.exitCode == 1)
            #expect(
                gone.text
                    == "Error: No such event: There is no event nope. Declare it with PUT /v1/events/nope first.\n")
        }
    }
}
