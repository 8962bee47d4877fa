internal import FoundationEssentials
internal import JSON
package import Logging

#if canImport(Darwin)
    private import Darwin
#elseif canImport(Glibc)
    private import Glibc
#elseif canImport(Musl)
    private import Musl
#endif

extension Configuration {
    /// The logger of the whole server. It writes to standard error.
    package func makeLogger() -> Logger {
        var logger = Logger(label: "grandstand") { label in
            switch self.logFormat {
            case .text: StreamLogHandler(label: label, stream: LogStream())
            case .json: JSONLogHandler(label: label)
            }
        }
        logger.logLevel = self.logLevel
        return logger
    }
}

/// Standard error for lines of text. Control characters are escaped, so that no value forges a line.
struct LogStream: TextOutputStream, Sendable {
    func write(_ line: String) { writeToStandardError(Self.bytes(of: line)) }

    /// - Parameter line: a line with the line break at its end.
    static func bytes(of line: String) -> [UInt8] { Array((String(line.dropLast()).escapingControls + "\n").utf8) }
}

/// Logs to standard error as JSON, one object a line.
struct JSONLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .info
    let label: String

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let facts = metadata.merging(event.metadata ?? [:]) { _, new in new }
        var writer = JSONWriter()
        writer.object { object in
            object.member("time", Date())
            object.member("level", event.level.rawValue)
            object.member("logger", label)
            object.member("message", event.message.description)
            for (name, value) in facts.sorted(by: { $0.key < $1.key }) {
                object.name(dynamic: name)
                object.string(value.description)
            }
        }
        writeToStandardError(writer.bytes + [0x0A])
    }
}

/// Writes whole lines. Lines that cannot be written are dropped, because logging must not stop the work.
private func writeToStandardError(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
    }
}

/// What a process sets before it serves.
package enum ProcessSetup {
    /// Turns core dumps off for this process and its children, because they would contain its private keys and tokens. A
    /// system that pipes core dumps to a program may still do this; an administrator must turn the pipe off.
    ///
    /// SIGHUP is ignored: a reload has nothing to do, because key files and certificates are read again when they change.
    package static func prepare() {
        _ = signal(SIGHUP, SIG_IGN)
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Glibc)
            _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        #else
            _ = setrlimit(RLIMIT_CORE, &limit)
        #endif
    }
}
