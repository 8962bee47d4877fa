internal import Foundation
internal import Testing

@testable internal import EmbeddedPostgres

@Suite(.timeLimit(.minutes(20)))
struct PostgresInstallationTests {
    @Test(
        arguments: [
            ("postgres (PostgreSQL) 15.6 (Debian 15.6-1)\n", "15"), ("postgres (PostgreSQL) 18beta1\n", "18"),
            ("postgres (EnterpriseDB)\n", nil), ("", nil),
        ] as [(String, String?)])
    func `the major version is read`(line: String, version: String?) {
        #expect(PostgresInstallation.majorVersion(inLine: line) == version)
    }

    @Test func `programs in PATH are used first`() {
        let folders = InstallationSearch.standard(path: "/first:relative:/second").folders
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
        #expect(InstallationSearch(folders: [links, real]).installations() == [PostgresInstallation(folder: real)])
        // A folder without initdb is not an installation.
        try FileManager.default.removeItem(atPath: "\(real)/initdb")
        #expect(InstallationSearch(folders: [real]).installations().isEmpty)
    }

    @Test func `existing data decide the version`() async throws {
        let workshop = try Workshop()
        let newer = try await workshop.installation(version: "17")
        let older = try await workshop.installation(version: "15")
        let search = InstallationSearch(folders: [newer, older])
        #expect(try await search.installation(for: nil, data: "/data").folder == newer)
        #expect(try await search.installation(for: "15", data: "/data").folder == older)
        let refusal = await #expect(throws: PostgresClusterError.self) {
            _ = try await search.installation(for: "16", data: "/data")
        }
        #expect(refusal?.reason == .otherVersion(data: "/data", needed: "16", installed: ["17", "15"]))
    }
}

struct CapturedRunTests {
    @Test func `the reported reason is the last error, not the hint after it`() {
        let output = "LOG:  starting\nFATAL:  no room\nHINT:  make some\n\n"
        #expect(CapturedRun.complaint(in: output) == "FATAL:  no room")
        #expect(CapturedRun.complaint(in: "one\ntwo\n  \n") == "two")
        #expect(CapturedRun.complaint(in: "") == "nothing")
    }
}
