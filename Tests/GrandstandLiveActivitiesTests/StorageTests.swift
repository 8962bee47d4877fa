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
