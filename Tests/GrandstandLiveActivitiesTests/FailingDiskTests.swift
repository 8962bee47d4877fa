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
            phone.server.setLookup("derby", .found(channelID: nil, contentState: nil))
            phone.host.setOnStart { try? Self.fail(phone) }
            #expect(try await app.show(Phone.match()) == .shown("card-1"))
            await app.flush()
            #expect(await app.status.waitingFor == ["derby"])
            #expect(phone.server.lookups.count == 1)
            try Self.mend(phone)
            await app.refresh()
            _ = await app.wait { $0.waitingFor.isEmpty && $0.phase == .upToDate }
            #expect(phone.host.starts.count == 1)
        }
    }

    @Test func `changes while the record was locked are uploaded after the first unlock`() async throws {
        let phone = Phone(host: FakeHost { $0.startTokens = ["MatchAttributes": "01"] })
        try Self.fail(phone)
        try await Phone.with(phone) { (phone, app) async throws in
            _ = await app.wait(Self.isLocked)
            try Self.mend(phone)
            _ = await app.wait { $0.phase == .upToDate && $0.installation != nil }
            #expect(await phone.known(app)?.facts.startTokens == ["MatchAttributes": "01"])
        }
    }

    /// A server that never answers.
    private struct SilentServer: DeviceServer {
        func perform(_ request: DeviceRequest, as credential: InstallationCredential) async -> DeviceOutcome {
            try? await ClientTime.standing.sleep(.zero)
            return .unanswered("silence")
        }

        func lookup(_ eventKey: String, variant: String?) async -> LookupOutcome {
            try? await ClientTime.standing.sleep(.zero)
            return .unanswered("silence")
        }
    }

    @Test func `a cancelled caller returns at once, and its request continues`() async throws {
        let phone = Phone(time: .standing)
        defer { phone.discard() }
        let app = LiveActivities(
            host: phone.host, server: SilentServer(), store: RecordStore(file: phone.record),
            credentials: FileCredentials(file: phone.keychain), time: phone.time)
        await app.start()
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
