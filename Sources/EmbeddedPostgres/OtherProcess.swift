internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The process with the ID of an earlier server.
enum OtherProcess: Sendable, Equatable {
    /// No process has the ID.
    case gone
    /// The server of this data.
    case server
    /// Another process of PostgreSQL, or one that cannot be identified. It is left alone, and PostgreSQL itself decides
    /// whether a new server may start.
    case anotherPostgres
    /// Another program that got the ID later (in a container the same IDs return at every start), or a zombie: a
    /// process that has ended, but whose parent has not waited for it.
    case stranger

    static func under(_ pid: Int32, data: String) async -> OtherProcess {
        if kill(pid, 0) != 0, errno == ESRCH { return .gone }
        return judge(commandLine: await commandLine(of: pid), data: data)
    }

    static func judge(commandLine: String?, data: String) -> OtherProcess {
        guard let commandLine else { return .anotherPostgres }
        if commandLine.contains("/postgres -D \(data)") { return .server }
        let program = commandLine.prefix { $0 != " " }.split(separator: "/").last
        return program == "postgres" || program == "postgres:" ? .anotherPostgres : .stranger
    }

    /// The arguments, joined by spaces; empty for a zombie; nil if they cannot be read.
    private static func commandLine(of pid: Int32) async -> String? {
        #if canImport(Darwin)
            let command = ["/bin/ps", "-o", "command=", "-p", "\(pid)"]
            return try? await CapturedRun.of(command, environment: ChildEnvironment.make()).output
        #else
            guard let bytes = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") else { return nil }
            return String(decoding: bytes.map { $0 == 0 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
        #endif
    }
}
