internal import Foundation
internal import GrandstandClient
internal import GrandstandLiveActivities
internal import PhoneFakes
internal import Testing

/// A record that cannot be read or written for a while, and callers that do not wait.
@Suite(.timeLimit(.minutes(20)))
struct FailingDiskTests {
    /// The record can neither be read nor written, as before the first unlock or on a broken disk.
    private static func fail(_ phone: Phone) throws {
        try? FileManager.default.moveItem(at: phone.record, to: aside(phone))
        try FileManager.default.createDirectory(at: phone.record, withIntermediateDirectories: true)
    }

    private static func mend(_ phone: Phone) throws {
        try FileManager.default.removeItem(at: phone.record)
        try? FileManager.default.moveItem(at: aside(phone), to: phone.record)
    }

    private static func aside(_ phone: Phone) -> URL { phone.record.appendingPathExtension("aside") }

    private static func isLocked(_ status: LiveActivitiesStatus) -> Bool {
        if case .locked = status.phase { true } else { false }
    }

    @Test func `an answer that cannot be written is not requested again at once`() async throws {
        // A sleep never ends by itself, so only steps without a pause happen.
        let phone = Phone(time: .standing)
        phone.server.setFate { _, _ in
            try? Self.fail(phone)
            return .arrives
        }
        try await Phone.with(phone) { (phone, app) async throws in
            _ = await app.wait(Self.isLocked)
            await app.flush()
            #expect(phone.server.requests.count == 1)
            phone.server.setFate { _, _ in .arrives }
            try Self.mend(phone)
            await app.refresh()
            await app.uploaded()
            #expect(await phone.known(app)?.facts.systemVersion == "18.4.1")
        }
    }

    @Test func `an activity that cannot be written is started once and recorded later`() async throws {
        try await Phone.with(Phone(time: .standing)) { phone, app in
            await app.uploaded()
            phone.server.setLookup("derby", .found(channelID: nil))
            phone.host.setOnStart { try? Self.fail(phone) }
            #expect(try await app.show(Phone.match()) == .shown("card-1"))
            await app.flush()
            #expect(await app.status.waitingFor == ["derby"])
            #expect(phone.server.lookups.count == 1)
            try Self.mend(phone)
            await app.refresh()
            _ = await app.wait { $0.waitingFor.isEmpty && $0.phase == .upToDate }
            #expect(phone.host.channels.count == 1)
        }
    }

    @Test func `a record that cannot be written is changed in memory, and the status says so`() async throws {
        let phone = Phone()
        let new = phone.record.appendingPathExtension("new")
        try FileManager.default.createDirectory(at: new, withIntermediateDirectories: true)
        try await Phone.with(phone) { (phone, app) async throws in
            try await app.follow(["team:rapid"])
            let status = await app.wait { $0.phase == .upToDate && $0.topics == ["team:rapid"] }
            #expect(status.storageFailure?.hasPrefix("record.json") == true)
            #expect(await phone.known(app)?.facts.topics == ["team:rapid"])
            try FileManager.default.removeItem(at: new)
            try await app.follow(["team:sturm"])
            #expect(await app.status.storageFailure == nil)
            #expect(try phone.store().change { $0.facts.topics }.value == ["team:rapid", "team:sturm"])
        }
    }

    @Test func `changes while the record was locked are uploaded after the first unlock`() async throws {
        let phone = Phone(host: FakeHost { $0.facts.tokens = ["MatchAttributes": "01"] })
        try Self.fail(phone)
        try await Phone.with(phone) { (phone, app) async throws in
            _ = await app.wait(Self.isLocked)
            try Self.mend(phone)
            _ = await app.wait { $0.phase == .upToDate && $0.installation != nil }
            #expect(await phone.known(app)?.facts.tokens == ["MatchAttributes": "01"])
        }
    }

    /// A server that never answers.
    private struct SilentServer: DeviceServer {
        func perform(_ request: DeviceRequest, as identity: InstallationIdentity) async throws -> Bool {
            try await ClientTime.standing.sleep(.zero)
            throw NoAnswer()
        }

        func lookup(_ eventKey: String, variant: String?) async throws -> Lookup {
            try await ClientTime.standing.sleep(.zero)
            throw NoAnswer()
        }
    }

    @Test func `a cancelled caller returns at once, and its request continues`() async throws {
        let phone = Phone(time: .standing)
        defer { phone.discard() }
        let app = await phone.launch(server: SilentServer())
        let flush = Task { await app.flush() }
        let show = Task { try await app.show(Phone.match()) }
        _ = await app.wait { $0.waitingFor == ["derby"] }
        flush.cancel()
        show.cancel()
        await flush.value
        #expect(try await show.value == .waiting)
        #expect(await app.status.waitingFor == ["derby"])
        await app.stop()
    }
}
