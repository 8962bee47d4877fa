internal import Foundation

/// The result of a program that ran to its end.
struct ProgramRun: Sendable {
    /// The exit status, or the number of the signal that ended the program.
    let status: Int32
    /// Standard output and standard error, in the order written.
    let output: String

    /// Runs a program with `input` (a few lines) as its standard input. No thread of Swift's pool waits for it.
    ///
    /// - Throws: if the program cannot be started.
    static func of(_ command: [String], input: String = "") async throws -> ProgramRun {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try ProgramRun(command, input: input) })
            }
        }
    }

    private init(_ command: [String], input: String) throws {
        let (process, text, pipe) = (Process(command), Pipe(), Pipe())
        process.standardInput = text
        process.standardOutput = pipe
        process.standardError = pipe
        // Written before the start, because a write to a program that has already ended would end this process.
        try text.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try process.run()
        try text.fileHandleForWriting.close()
        output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        status = process.terminationStatus
    }
}

extension String {
    /// The line of an output that best explains a failure: the last error, or else the last line. The last line alone is
    /// often not the cause: after an error, PostgreSQL's programs also print hints and what they do next.
    var complaint: String {
        let lines = split(whereSeparator: \.isNewline).filter { $0.contains { !$0.isWhitespace } }
        let words = ["error:", "FATAL:", "PANIC:"]
        let error = lines.last { line in words.contains { line.contains($0) } }
        return String(error ?? lines.last ?? "nothing")
    }
}

extension Process {
    /// A program that is not started yet. It has its own process group, so that Ctrl-C in a terminal does not reach it,
    /// and no open files of this process but its standard input and output.
    ///
    /// Only the paths to programs and libraries are passed on, because variables such as PGDATA and PGPORT are for other
    /// databases. Messages are in English, because they are parsed; times are in UTC.
    convenience init(_ command: [String]) {
        self.init()
        executableURL = URL(filePath: command[0])
        arguments = Array(command.dropFirst())
        // The program's account may have no access to our working directory, and must not keep it in use.
        currentDirectoryURL = URL(filePath: "/")
        let ours = ProcessInfo.processInfo.environment
        let path = "\(ours["PATH"] ?? ""):/usr/bin:/bin:/usr/sbin:/sbin"
        let kept = ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR"]
        environment = ours.filter { kept.contains($0.key) }
            .merging(["LC_ALL": "C", "TZ": "UTC", "PATH": path]) { $1 }
    }
}
