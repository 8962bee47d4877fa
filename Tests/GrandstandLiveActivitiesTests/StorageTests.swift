internal import Foundation
internal import GrandstandClient
internal import GrandstandLiveActivities
internal import PhoneFakes
internal import Testing

struct StorageTests {
    @Test func `two simultaneous launches use no sequence twice and lose no change of each other`() async throws {
        let phone = Phone()
        defer { phone.discard() }
        let drawn = try await withThrowingTaskGroup { group in
            for number in 0..<2 {
                let store = phone.store()
                group.addTask {
                    try (0..<50).map { round in
                        try store.change { record in
                            record.changeFacts { $0.topics?.append("launch-\(number):\(round)") }
                            return record.sequence
                        }.value
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(drawn.sorted() == Array(1...100))
        #expect(try phone.store().change { $0.facts.topics?.count }.value == 100)
    }

    @Test func `a file that is not a record is moved aside, and one that cannot be read is not changed`() throws {
        let phone = Phone()
        defer { phone.discard() }
        let (file, store) = (phone.record, phone.store())
        _ = try store.change { $0.sequence = 7 }
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try Data("{".utf8).write(to: file)
        #expect(try store.change { $0.sequence }.value == 0)
        #expect(FileManager.default.fileExists(atPath: file.path + ".unreadable"))
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        #expect(throws: (any Error).self) { try store.change { $0.sequence = 1 } }
    }

    @Test func `of two identities that are drawn the first one counts, and one that was refused is replaced`() throws {
        let phone = Phone()
        defer { phone.discard() }
        let first = try phone.store().identity()
        #expect(first.secret.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil)
        #expect(!"\(first)\(String(reflecting: first))".contains(first.secret))
        #expect(try phone.store().identity() == first)
        let second = try phone.store().identity(insteadOf: first)
        #expect(second.secret != first.secret && second.installationId != first.installationId)
        #expect(try phone.store().identity(insteadOf: first) == second)
        #expect(throws: (any Error).self) { try phone.store(refusals: 1).identity() }
        try phone.store().removeIdentity()
        #expect(try phone.store().identity() != second)
    }
}

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
        phone.network.setFate { _, _ in
            try? Self.fail(phone)
            return .arrives
        }
        try await Phone.with(phone) { (phone, app) async throws in
            _ = await app.wait(Self.isLocked)
            await app.flush()
            #expect(phone.network.requests.count == 1)
            phone.network.setFate { _, _ in .arrives }
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
            phone.host.setOnReading { try? Self.fail(phone) }
            #expect(try await app.show(Phone.match()) == .shown("card-1"))
            await app.flush()
            #expect(await app.status.waitingFor == ["derby"])
            #expect(phone.network.lookups.count == 1)
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
    private struct SilentServer: DeviceAPI {
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
