internal import Foundation
internal import Testing

@testable internal import EmbeddedPostgres

@Suite(.timeLimit(.minutes(20)))
struct ProgramsTests {
    @Test(
        arguments: [
            ("postgres (PostgreSQL) 15.6 (Debian 15.6-1)\n", "15"), ("postgres (PostgreSQL) 18beta1\n", "18"),
            ("postgres (EnterpriseDB)\n", nil), ("", nil),
        ] as [(String, String?)])
    func `the major version is read`(line: String, version: String?) {
        #expect(Programs.majorVersion(in: line) == version)
    }

    @Test func `programs in PATH are used first`() {
        let folders = Programs.folders(path: "/first:relative:/second")
        #expect(folders.starts(with: ["/first", "/second"]))
        #expect(!folders.contains("relative"))
    }

    @Test func `links are followed to the program's folder`() async throws {
        let workshop = try Workshop()
        let real = try await workshop.installation(version: "15")
        let links = "\(workshop.folder)/links"
        try FileManager.default.createDirectory(atPath: links, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: "\(links)/postgres", withDestinationPath: "\(real)/postgres")
        #expect(Programs.installed(in: [links, real]) == [Programs(folder: real)])
        // A folder without initdb is not an installation.
        try FileManager.default.removeItem(atPath: "\(real)/initdb")
        #expect(Programs.installed(in: [real]).isEmpty)
    }

    @Test func `existing data decide the version`() async throws {
        let workshop = try Workshop()
        let newer = try await workshop.installation(version: "17")
        let older = try await workshop.installation(version: "15")
        #expect(try await Programs.find(nil, in: [newer, older], data: "/data").folder == newer)
        #expect(try await Programs.find("15", in: [newer, older], data: "/data").folder == older)
        let refusal = await #expect(throws: PostgresClusterError.self) {
            _ = try await Programs.find("16", in: [newer, older], data: "/data")
        }
        #expect(refusal?.description.contains("/data was made by PostgreSQL 16") == true)
    }

    @Test func `the reported reason is the last error, not the hint after it`() {
        #expect("LOG:  starting\nFATAL:  no room\nHINT:  make some\n\n".complaint == "FATAL:  no room")
        #expect("one\ntwo\n  \n".complaint == "two")
        #expect("".complaint == "nothing")
    }
}
