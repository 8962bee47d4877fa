internal import Foundation

/// The result of a program that ran to its end.
struct CapturedRun: Sendable {
    let ending: ChildProcess.Ending
    /// Standard output and standard error, in the order written.
    let output: String

    /// The last line that is not empty.
    var lastLine: String { Self.lines(of: output).last ?? "nothing" }

    /// The line of the output that best explains a failure: the last error, or else the last line.
    var complaint: String { Self.complaint(in: output) }

    /// The last line of `output` that is an error; if there is no such line, the last line. The last line alone is
    /// often not the cause: after an error, PostgreSQL's programs also print hints and what they do next.
    static func complaint(in output: String) -> String {
        let lines = lines(of: output)
        let isError = { (line: String) in ["error:", "FATAL:", "PANIC:"].contains { line.contains($0) } }
        return lines.last(where: isError) ?? lines.last ?? "nothing"
    }

    private static func lines(of output: String) -> [String] {
        output.split(whereSeparator: \.isNewline).filter { !$0.allSatisfy(\.isWhitespace) }.map(String.init)
    }

    /// Runs a program with `input` (a few lines) as its standard input.
    ///
    /// - Throws: `SystemError` if it cannot be started.
    static func of(_ arguments: [String], environment: [String: String], input: String = "") async throws -> CapturedRun
    {
        // The input and the output are files, not pipes. A file needs no reader while the program writes, so nothing
        // blocks.
        let output = try Descriptor.temporaryFile()
        let text = try Descriptor.temporaryFile()
        try text.write(input)
        let child = try ChildProcess(
            arguments, environment: environment, descriptors: [0: text, 1: output, 2: output])
        let ending = await child.ending
        return CapturedRun(ending: ending, output: output.contents())
    }
}

/// The environment of the programs that this library starts.
enum ChildEnvironment {
    /// Only the paths to programs and libraries are passed on, because variables such as PGDATA and PGPORT are for
    /// other databases. Messages are in English, because they are parsed; times are in UTC.
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
