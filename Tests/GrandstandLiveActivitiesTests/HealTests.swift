internal import Foundation
internal import GrandstandClient
internal import GrandstandLiveActivities
internal import PhoneFakes
internal import Testing

/// Activities whose channel was replaced, with fakes of ActivityKit (`FakeHost`) and of the server.
@Suite(.timeLimit(.minutes(20)))
struct HealTests {
    private static let new = Data(#"{"home": 3}"#.utf8)

    private static func found(_ channel: String, _ content: String) -> LookupOutcome {
        .found(channelID: channel, contentState: Data(content.utf8))
    }

    @Test func `an activity on a replaced channel ends, and one on the new channel has the newest content`()
        async throws
    {
        try await Phone.with { phone, app in
            phone.server.setLookup("derby", Self.found("b2xk", #"{"home": 2}"#))
            _ = try await app.show(Phone.match())
            await app.refresh()
            #expect(phone.host.cards.map(\.id) == ["card-1"])
            phone.server.setLookup("derby", Self.found("bmV3", #"{"home": 3}"#))
            await app.refresh()
            #expect(phone.host.cards.map(\.id) == ["card-2"] && phone.host.secondCards == 0)
            #expect(phone.host.channels.last == "bmV3")
            #expect(phone.host.content(of: "card-2") == Self.new)
            await app.uploaded()
            #expect(await phone.known(app)?.activities["card-2"]?.channelID == "bmV3")
        }
    }

    @Test func `an activity whose event is over ends with the last content`() async throws {
        try await Phone.with { phone, app in
            phone.server.setLookup("derby", Self.found("b2xk", #"{"home": 2}"#))
            _ = try await app.show(Phone.match())
            phone.server.setLookup("derby", .failure(ServerProblem.device(410, "event-ended", contentState: Self.new)))
            await app.refresh()
            #expect(phone.host.cards.map(\.state) == [.ended])
            #expect(phone.host.content(of: "card-1") == Self.new)
        }
    }

    @Test(arguments: [(#"{"home": 2}"#, "card-1"), (#"{"home": 3}"#, "pushed")])
    func `an activity started by push stays if it shows the newest content, else it is replaced`(
        shown: String, card: String
    ) async throws {
        let phone = Phone()
        phone.host.change { $0.activities = [Phone.card("pushed")] }
        phone.host.show(Data(shown.utf8), on: "pushed")
        phone.server.setLookup("derby", Self.found("bmV3", #"{"home": 3}"#))
        try await Phone.with(phone) { (phone, app) async throws in
            await app.refresh()
            #expect(phone.host.cards.map(\.id) == [card] && phone.host.secondCards == 0)
            #expect(phone.host.content(of: card) == Self.new)
            // Now the app knows the activity's channel: the lookup's (`bmV3`). When the lookup has newer content on the
            // same channel, the activity is not replaced.
            phone.server.setLookup("derby", Self.found("bmV3", #"{"home": 4}"#))
            await app.refresh()
            #expect(phone.host.cards.map(\.id) == [card])
        }
    }

    @Test func `an activity started by push on a variant is compared with it`() async throws {
        let phone = Phone()
        phone.host.change { $0.activities = [Phone.card("pushed")] }
        phone.host.show(Self.new, on: "pushed")
        phone.server.setLookup(
            "derby",
            .found(channelID: "b25l", contentState: Data(#"{"home": 9}"#.utf8), variants: ["de"]))
        phone.server.setLookup(
            "derby de", .found(channelID: "ZGU=", contentState: Self.new, variant: "de", variants: ["de"]))
        try await Phone.with(phone) { (phone, app) async throws in
            await app.refresh()
            #expect(phone.host.cards.map(\.id) == ["pushed"])
            await app.uploaded()
            let entry = await phone.known(app)?.activities["pushed"]
            #expect(entry?.channelID == "ZGU=" && entry?.variant == "de")
        }
    }

    @Test(arguments: [false, true])
    func `an activity started by push replaces an older one of its event`(isHeardLater: Bool) async throws {
        let phone = Phone()
        defer { phone.discard() }
        phone.server.setLookup("derby", Self.found("b2xk", #"{"home": 2}"#))
        phone.server.setLookup("final", Self.found("b3RoZXI=", #"{"home": 2}"#))
        var app = await phone.launch()
        _ = try await app.show(Phone.match())
        _ = try await app.show(Phone.match("final"))
        await app.uploaded()
        if isHeardLater { await app.stop() }
        phone.server.setLookup("derby", Self.found("bmV3", #"{"home": 3}"#))
        phone.host.change { $0.activities.append(Phone.card("pushed")) }
        phone.host.show(Self.new, on: "pushed")
        if isHeardLater { app = await phone.launch() } else { phone.host.tell(.changed) }
        while phone.host.cards.contains(where: { $0.id == "card-1" }) { await Task.yield() }
        await app.refresh()
        await app.stop()
        #expect(phone.host.cards.map(\.id) == ["card-2", "pushed"])
    }

    @Test func `a kill between the end of the old activity and the start of the new one loses none`() async throws {
        let phone = Phone()
        phone.server.setLookup("derby", Self.found("b2xk", #"{"home": 2}"#))
        let app = await phone.launch()
        _ = try await app.show(Phone.match())
        phone.server.setLookup("derby", Self.found("bmV3", #"{"home": 3}"#))
        // The app is not in the foreground during the refresh, so the old activity ends, and a new one cannot start.
        phone.host.setInFront(false)
        await app.refresh()
        await app.stop()
        #expect(phone.host.cards.isEmpty)
        phone.host.setInFront(true)
        try await Phone.with(phone) { (phone, again) async throws in
            _ = await again.wait { $0.waitingFor.isEmpty && !$0.activities.isEmpty }
            #expect(phone.host.cards.count == 1 && phone.host.channels.last == "bmV3")
        }
    }
}

struct PushEnvironmentTests {
    /// A profile in Apple's form: a property list within a signature.
    private func profile(_ entitlements: String) -> Data {
        Data([0x30, 0x82, 0x2F, 0x17, 0x06, 0x09, 0x00, 0xFF])
            + Data(
                """
                <?xml version="1.0" encoding="UTF-8"?>
                <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                <plist version="1.0"><dict>
                <key>AppIDName</key><string>Stadium</string>
                <key>Entitlements</key><dict>
                <key>application-identifier</key><string>TEAM123456.com.example.Stadium</string>
                \(entitlements)
                </dict></dict></plist>
                """.utf8) + Data([0xA0, 0x82, 0x00, 0x3C, 0x3F])
    }

    @Test func `the environment is in the profile's entitlement, and any other profile is refused`() throws {
        func read(_ name: String) throws -> PushEnvironment {
            try PushEnvironment(provisioningProfile: profile("<key>aps-environment</key><string>\(name)</string>"))
        }
        for name in ["development", "production"] { #expect(try read(name).rawValue == name) }
        #expect(throws: PushEnvironmentError.unknownEnvironment("staging")) { try read("staging") }
        #expect(throws: PushEnvironmentError.noPushEntitlement) {
            try PushEnvironment(provisioningProfile: profile(""))
        }
        for odd in [Data(), Data("<?xml".utf8), Data("<?xml version='1.0'?></plist>".utf8)] {
            #expect(throws: PushEnvironmentError.unreadableProfile) { try PushEnvironment(provisioningProfile: odd) }
        }
    }

    @Test func `apps from the App Store have no profile, and the Simulator uses the sandbox`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).bundle")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let bundle = try #require(Bundle(path: folder.path))
        #expect(try PushEnvironment.of(bundle, isSimulator: false) == .production)
        #expect(try PushEnvironment.of(bundle, isSimulator: true) == .development)
    }
}
