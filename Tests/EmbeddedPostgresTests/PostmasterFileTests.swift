internal import Testing

@testable internal import EmbeddedPostgres

struct PostmasterFileTests {
    private let lines = ["4711", "/data", "1700000000", "5432", "/run", "", "  12345   7", "ready   "]

    @Test func `the process and the state are read, and servers with the same process number are distinguished`() throws
    {
        func file(_ lines: [String]) throws -> PostmasterFile {
            try #require(PostmasterFile(text: lines.joined(separator: "\n")))
        }
        let ready = try file(lines + [""])
        #expect(ready.pid == 4711 && ready.isReady)
        #expect(try !file(lines.dropLast() + ["starting"]).isReady)
        #expect(try !file(Array(lines.prefix(5))).isReady)
        #expect(try file(lines.map { $0 == "1700000000" ? "1700000001" : $0 }).server != ready.server)
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
