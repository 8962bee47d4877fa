internal import Foundation
internal import Testing

@testable internal import EmbeddedPostgres

@Suite(.timeLimit(.minutes(1)))
struct ClusterLayoutTests {
    private func layout(_ directory: String, temporaryFolder: String = "/tmp") -> ClusterLayout {
        ClusterLayout(directory: directory, temporaryFolder: temporaryFolder, userID: 501)
    }

    @Test func `the socket is next to the data`() {
        #expect(layout("/srv/grandstand").socketFolder == "/srv/grandstand/run")
    }

    @Test func `the path of the socket is short enough for the kernel`() {
        let longest = String(repeating: "d", count: ClusterLayout.socketPathLimit - "//run/.s.PGSQL.5432".utf8.count)
        #expect(layout("/\(longest)").socketFolder == "/\(longest)/run")
        let short = layout("/\(longest)d").socketFolder
        #expect(short.hasPrefix("/tmp/grandstand-501-"))
        #expect("\(short)/.s.PGSQL.5432".utf8.count <= ClusterLayout.socketPathLimit)
    }

    @Test func `each data directory with a long path has its own short socket folder`() {
        let name = String(repeating: "d", count: 120)
        #expect(layout("/a/\(name)").socketFolder == layout("/a/\(name)").socketFolder)
        #expect(layout("/a/\(name)").socketFolder != layout("/b/\(name)").socketFolder)
        #expect(layout("/a/\(name)", temporaryFolder: "/\(name)").socketFolder.hasPrefix("/tmp/grandstand-501-"))
    }

    @Test func `a path with a comma is refused, because libpq would read a list of hosts`() {
        #expect(layout("/srv/a,b").socketFolder.hasPrefix("/tmp/"))
    }

    @Test func `paths are quoted for libpq`() {
        #expect(
            layout(#"/it's a \ path"#).connectionString()
                == #"host='/it\'s a \\ path/run' port=5432 user=grandstand dbname=grandstand"#)
    }

    @Test(arguments: [String(repeating: "long/", count: 24) + "path", "it's a \\ \"path\", quoted"])
    func `a cluster with a long path serves`(path: String) async throws {
        let workshop = try Workshop()
        try await workshop.withCluster(at: "\(workshop.folder)/\(path)") { _, connection in
            let answer = try await Workshop.ask(connection, "select 1")
            #expect(answer == "1")
        }
    }
}
