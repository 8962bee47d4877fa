internal import Foundation
internal import Testing

@testable internal import EmbeddedPostgres

@Suite(.timeLimit(.minutes(20)))
struct ClusterLayoutTests {
    private func layout(_ directory: String, temporaryFolder: String = "/tmp") -> ClusterLayout {
        ClusterLayout(directory: directory, temporaryFolder: temporaryFolder, userID: 501)
    }

    @Test func `the socket is next to the data, or in its own short folder if the path is long or has a comma`() {
        #expect(layout("/srv/grandstand").socketFolder == "/srv/grandstand/run")
        let longest = String(repeating: "d", count: ClusterLayout.socketPathLimit - "//run/.s.PGSQL.5432".utf8.count)
        #expect(layout("/\(longest)").socketFolder == "/\(longest)/run")
        let short = layout("/\(longest)d").socketFolder
        #expect(short.hasPrefix("/tmp/grandstand-501-") && short == layout("/\(longest)d").socketFolder)
        #expect("\(short)/.s.PGSQL.5432".utf8.count <= ClusterLayout.socketPathLimit)
        #expect(short != layout("/\(longest)e").socketFolder)
        #expect(layout("/\(longest)d", temporaryFolder: "/\(longest)").socketFolder == short)
        // libpq would read a list of hosts.
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
        #expect(try await workshop.answer("select 1", at: "\(workshop.folder)/\(path)") == "1")
    }
}
