internal import Foundation

/// A program run to its end, with its output.
struct CapturedRun: Sendable {
    let ending: ChildProcess.Ending
    /// Standard output and standard error, in the order written.
    let output: String

    /// The last line that says something.
    var lastLine: String { Self.lines(of: output).last ?? "nothing" }

    /// The line that tells most of a failure, see `complaint(in:)`.
    var complaint: String { Self.complaint(in: output) }

    /// PostgreSQL follows an error with hints and what it did about it: the last line that is an error, else the last.
    static func complaint(in output: String) -> String {
        let lines = lines(of: output)
        let isError = { (line: String) in ["error:", "FATAL:", "PANIC:"].contains { line.contains($0) } }
        return lines.last(where: isError) ?? lines.last ?? "nothing"
    }

    private static func lines(of output: String) -> [String] {
        output.split(whereSeparator: \.isNewline).filter { !$0.allSatisfy(\.isWhitespace) }.map(String.init)
    }

    /// Runs a program; `input` (a few lines) is what it reads.
    ///
    /// - Throws: `SystemError` when it cannot be started.
    static func of(_ arguments: [String], environment: [String: String], input: String = "") async throws -> CapturedRun
    {
        // Files, not pipes: they need no reader while it writes, and nothing blocks.
        let output = try Descriptor.temporaryFile()
        let text = try Descriptor.temporaryFile()
        try text.write(input)
        let child = try ChildProcess(
            arguments, environment: environment, descriptors: [0: text, 1: output, 2: output])
        let ending = await child.ending
        return CapturedRun(ending: ending, output: output.contents())
    }
}

/// The environment of the programs we start.
enum ChildEnvironment {
    /// Nothing of ours but the way to programs and libraries: PGDATA, PGPORT and their like are for other databases.
    /// Messages are in English, because we read them; times are in UTC.
    static func make(_ ours: [String: String] = ProcessInfo.processInfo.environment) -> [String: String] {
        var environment = ["LC_ALL": "C", "TZ": "UTC"]
        for name in ["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR"] {
            environment[name] = ours[name]
        }
        let path = [ours["PATH"], "/usr/bin:/bin:/usr/sbin:/sbin"].compactMap(\.self)
        environment["PATH"] = path.joined(separator: ":")
        return environment
    }
}
