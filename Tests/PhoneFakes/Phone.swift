package import Foundation
package import GrandstandClient
package import GrandstandLiveActivities

/// A phone with a disk, a keychain and a stand-in for ActivityKit, on which the app is launched and killed.
package struct Phone: Sendable {
    package let folder: URL
    package let host: FakeHost
    package let server: FakeServer
    package let time: ClientTime

    package init(
        host: FakeHost = FakeHost(), server: FakeServer = FakeServer(), time: ClientTime = TestTime().time
    ) {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("grandstand-\(UUID().uuidString)")
        self.host = host
        self.server = server
        self.time = time
    }

    package var record: URL { folder.appendingPathComponent("record.json") }
    package var keychain: URL { folder.appendingPathComponent("keychain.json") }

    /// What the phone keeps.
    ///
    /// - Parameter refusals: how many reads of the keychain fail first.
    package func store(refusals: Int = 0) -> DeviceStore {
        DeviceStore(
            file: record, vault: FileVault(file: keychain, refusals: refusals),
            app: .init("com.example.Stadium", .production))
    }

    /// Launches the app.
    package func launch(refusals: Int = 0, server: (any DeviceServer)? = nil) async -> LiveActivities {
        let app = LiveActivities(
            host: host, server: server ?? self.server, store: store(refusals: refusals), time: time)
        await app.start()
        return app
    }

    /// Runs `body` with a phone on which the app was launched.
    package static func with(
        _ phone: Phone = Phone(), _ body: (Phone, LiveActivities) async throws -> Void
    ) async throws {
        defer { phone.discard() }
        let app = await phone.launch()
        try await body(phone, app)
        await app.stop()
    }

    package func discard() { try? FileManager.default.removeItem(at: folder) }

    /// What the server has of this phone's installation.
    package func known(_ app: LiveActivities) async -> FakeServer.Installation? {
        await app.status.installation.flatMap { server.installations[$0.uuidString.lowercased()] }
    }

    /// A card of an event, for example one that a push started.
    package static func card(_ id: String, _ key: String = "derby") -> DeviceActivity {
        DeviceActivity(id: id, attributesType: "MatchAttributes", eventKey: key, state: .active)
    }

    package static func match(_ key: String = "derby", startsAt: Date? = nil) -> WantedStart {
        WantedStart(
            eventKey: key, attributesType: "MatchAttributes", attributes: Data(#"{"home": "Rapid"}"#.utf8),
            contentState: Data(#"{"home": 0}"#.utf8), startsAt: startsAt)
    }
}

extension LiveActivities {
    /// Waits for the first status for which `what` is true.
    package func wait(_ what: @Sendable (LiveActivitiesStatus) -> Bool) async -> LiveActivitiesStatus {
        for await status in statuses() where what(status) { return status }
        return LiveActivitiesStatus()
    }

    /// Returns when the server has everything.
    package func uploaded() async { _ = await wait { $0.phase == .upToDate } }
}
