internal import Testing

@testable internal import EmbeddedPostgres

struct PostmasterFileTests {
    private let lines = ["4711", "/data", "1700000000", "5432", "/run", "", "  12345   7", "ready   "]

    @Test func `the process and the state are read`() throws {
        let file = try #require(PostmasterFile(text: lines.joined(separator: "\n") + "\n"))
        #expect(file.pid == 4711)
        #expect(file.isReady)
    }

    @Test func `a server is ready only when its file says so`() throws {
        let starting = lines.dropLast() + ["starting"]
        #expect(try #require(PostmasterFile(text: starting.joined(separator: "\n"))).isReady == false)
        #expect(try #require(PostmasterFile(text: lines.prefix(5).joined(separator: "\n"))).isReady == false)
    }

    @Test func `servers with the same process number are distinguished`() throws {
        let first = try #require(PostmasterFile(text: lines.joined(separator: "\n")))
        let later = lines.map { $0 == "1700000000" ? "1700000001" : $0 }.joined(separator: "\n")
        #expect(try #require(PostmasterFile(text: later)).server != first.server)
    }

    @Test(arguments: ["", "4711", "4711\n/data", "words\n/data\n1700000000", "-1\n/data\n1700000000", "0\n/data\n1"])
    func `an incomplete file is ignored`(text: String) {
        #expect(PostmasterFile(text: text) == nil)
    }
}

struct OtherProcessTests {
    @Test(
        arguments: [
            ("/usr/lib/postgresql/15/bin/postgres -D /data -c port=5432 ", OtherProcess.server),
            ("/usr/lib/postgresql/15/bin/postgres -D /other ", .anotherPostgres),
            ("postgres: checkpointer ", .anotherPostgres),
            ("tail -f /data/log ", .stranger),
            ("", .stranger),
            (nil, .anotherPostgres),
        ] as [(String?, OtherProcess)])
    func `a process is recognised by its command line`(commandLine: String?, verdict: OtherProcess) {
        #expect(OtherProcess.judge(commandLine: commandLine, data: "/data") == verdict)
    }
}
