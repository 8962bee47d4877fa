internal import Foundation
internal import GrandstandLiveActivities
internal import Testing

struct StorageTests {
    private func inFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("grandstand-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    @Test func `two simultaneous launches use no sequence twice and lose no change of each other`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("grandstand-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let stores = (0..<2).map { _ in RecordStore(file: folder.appendingPathComponent("record.json")) }
        let drawn = try await withThrowingTaskGroup { group in
            for (number, store) in stores.enumerated() {
                group.addTask {
                    try (0..<50).map { round in
                        try store.change { record in
                            record.changeFacts { $0.topics.append("launch-\(number):\(round)") }
                            return record.sequence
                        }.value
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(drawn.sorted() == Array(1...100))
        #expect(try stores[0].change { $0.facts.topics.count }.value == 100)
    }

    @Test func `a file that is not a record is moved aside, and one that cannot be read is not changed`() throws {
        try inFolder { folder in
            let file = folder.appendingPathComponent("record.json")
            let store = RecordStore(file: file)
            _ = try store.change { $0.sequence = 7 }
            try Data("{".utf8).write(to: file)
            #expect(try store.change { $0.sequence }.value == 0)
            #expect(FileManager.default.fileExists(atPath: file.path + ".unreadable"))
            try FileManager.default.removeItem(at: file)
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
            #expect(throws: (any Error).self) { try store.change { $0.sequence = 1 } }
        }
    }

    @Test func `the secret is in a private file, and of two that are created the first one counts`() throws {
        try inFolder { folder in
            let file = folder.appendingPathComponent("keychain.json")
            let store = FileCredentials(file: file)
            #expect(try store.load() == nil)
            let (first, second) = (InstallationCredential.draw(), InstallationCredential.draw())
            #expect(first.secret.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil)
            #expect(first.secret != second.secret)
            #expect(!"\(first)\(String(reflecting: first))".contains(first.secret))
            #expect(try store.keep(first, insteadOf: nil) == first)
            #expect(try store.keep(second, insteadOf: nil) == first)
            #expect(try store.keep(second, insteadOf: first) == second)
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            try store.remove()
            #expect(try store.load() == nil)
        }
    }
}
