internal import Foundation
internal import GrandstandClient
internal import GrandstandLiveActivities
internal import PhoneFakes
internal import Testing

/// The phone's side of an installation's life, with a server and a network in memory.
@Suite(.timeLimit(.minutes(20)))
struct UploadTests {
    @Test func `tokens missing in the stream are read at launch and in the foreground`()
        async throws
    {
        try await Phone.with(Phone(host: FakeHost { $0.startTokens = ["MatchAttributes": "01"] })) { phone, app in
            await app.uploaded()
            #expect(await phone.known(app)?.facts.startTokens == ["MatchAttributes": "01"])
            phone.host.change { $0.startTokens = ["MatchAttributes": "02"] }
            await app.refresh()
            await app.flush()
            #expect(await phone.known(app)?.facts.startTokens == ["MatchAttributes": "02"])
        }
    }

    @Test func `after a reinstallation it is the same installation, with the new app's state`() async throws {
        let phone = Phone()
        defer { phone.discard() }
        let first = await phone.launch()
        for number in 0..<5 { try await first.follow(["team:\(number)"]) }
        await first.uploaded()
        let name = await first.status.installation
        await first.stop()
        // The app's files are gone, the keychain is not.
        try FileManager.default.removeItem(at: phone.record)
        let app = await phone.launch()
        try await app.follow(["team:new"])
        _ = await app.wait { $0.phase == .upToDate && $0.topics == ["team:new"] }
        #expect(await app.status.installation == name)
        #expect(await phone.known(app)?.facts.topics == ["team:new"])
        await app.stop()
    }

    @Test(arguments: [[:], ["MatchAttributes": "02"]])
    func `a backup on another phone becomes another installation with the same topics`(
        newToken: [String: String]
    ) async throws {
        let phone = Phone(host: FakeHost { $0.startTokens = ["MatchAttributes": "01"] })
        defer { phone.discard() }
        let old = await phone.launch()
        try await old.follow(["team:rapid"])
        _ = await old.wait { $0.phase == .upToDate && $0.topics == ["team:rapid"] }
        let name = await old.status.installation
        await old.stop()
        // A backup contains the record, but not the keychain items, which stay on their device.
        try FileManager.default.removeItem(at: phone.keychain)
        phone.host.change {
            $0.startTokens = newToken
            $0.activities = [
                ActivitySnapshot(id: "new", attributesType: "MatchAttributes", eventKey: "derby", state: .active)
            ]
        }
        let app = await phone.launch()
        await app.uploaded()
        #expect(await app.status.installation != name)
        let known = try #require(await phone.known(app))
        #expect(known.facts.topics == ["team:rapid"])
        #expect(known.facts.startTokens == newToken)
        #expect(known.activities.keys.sorted() == ["new"])
        await app.stop()
    }

    @Test func `an installation that lost its secret gets a new ID`() async throws {
        let phone = Phone()
        let credential = try FileCredentials(file: phone.keychain).keep(.draw(), insteadOf: nil)
        phone.server.put(
            credential.installation, .init(secret: "another", sequence: 3, facts: InstallationFacts()))
        try await Phone.with(phone) { (phone, app) async throws in
            await app.uploaded()
            let known = try #require(await phone.known(app))
            #expect(await app.status.installation != credential.installation)
            #expect(known.facts.systemVersion == "18.4.1")
        }
    }

    @Test func `a revoked key is not used again, and the next version's key uploads the changes`()
        async throws
    {
        let phone = Phone()
        defer { phone.discard() }
        phone.server.setFate { _, _ in
            .refused(ServerProblem(status: 401, slug: "unauthenticated", title: "This key was revoked."))
        }
        let old = await phone.launch()
        _ = await old.wait { $0.phase == .keyRefused("This key was revoked.") }
        try await old.follow(["team:rapid"])
        await old.refresh()
        await old.flush()
        #expect(phone.server.requests.count == 1)
        await old.stop()
        phone.server.setFate { _, _ in .arrives }
        let app = await phone.launch()
        await app.uploaded()
        #expect(await phone.known(app)?.facts.topics == ["team:rapid"])
        await app.stop()
    }

    @Test func `before the first unlock no identity is created, and afterwards it is the same installation`()
        async throws
    {
        let phone = Phone()
        defer { phone.discard() }
        let kept = try FileCredentials(file: phone.keychain).keep(.draw(), insteadOf: nil)
        let keychain = LockableCredentials(FileCredentials(file: phone.keychain), fails: 6)
        let app = await phone.launch(credentials: keychain)
        await app.uploaded()
        #expect(await app.status.installation == kept.installation)
        #expect(phone.server.installations.count == 1)
        await app.stop()
    }

    @Test func `permissions are reported as they are, and a start token is kept if the stream is silent`() async throws
    {
        try await Phone.with(Phone(host: FakeHost { $0.startTokens = ["MatchAttributes": "01"] })) { phone, app in
            await app.uploaded()
            phone.host.change {
                $0.startTokens = [:]
                $0.liveActivitiesEnabled = false
            }
            phone.host.tell(.permissionsChanged)
            _ = await app.wait { !$0.areActivitiesEnabled && $0.phase == .upToDate }
            let known = try #require(await phone.known(app))
            #expect(!known.facts.liveActivitiesEnabled)
            #expect(known.facts.startTokens == ["MatchAttributes": "01"])
        }
    }

    @Test func `invalid topics are refused, and then nothing is followed`() async throws {
        try await Phone.with { phone, app in
            await #expect(throws: LiveActivitiesError.notATopic("team rapid")) {
                try await app.follow(["a", "team rapid"])
            }
            await #expect(throws: LiveActivitiesError.tooManyTopics) {
                try await app.follow((0...InstallationFacts.mostTopics).map { "t\($0)" })
            }
            #expect(await app.status.topics.isEmpty)
        }
    }

    @Test func `a forgotten installation is gone on the phone and the server, and a return is a new one`() async throws
    {
        let phone = Phone()
        defer { phone.discard() }
        phone.server.setFate { _, request in request == .forget ? .answerLost : .arrives }
        let app = await phone.launch()
        try await app.follow(["team:rapid"])
        _ = await app.wait { $0.phase == .upToDate && $0.topics == ["team:rapid"] }
        let name = await app.status.installation
        try await app.forget()
        await app.flush()
        phone.server.setFate { _, _ in .arrives }
        _ = await app.wait { $0.phase == .forgotten }
        #expect(phone.server.installations.isEmpty)
        await app.stop()
        let again = await phone.launch()
        await again.flush()
        #expect(phone.server.installations.isEmpty)
        try await again.follow(["team:sturm"])
        _ = await again.wait { $0.phase == .upToDate }
        #expect(await again.status.installation != name)
        #expect(await phone.known(again)?.facts.topics == ["team:sturm"])
        await again.stop()
    }
}
