internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Where people read what is printed.
enum Terminal {
    /// Columns of the terminal that standard output is; `nil` when it is none. `COLUMNS` has the last word.
    static var width: Int? {
        if let text = ProcessInfo.processInfo.environment["COLUMNS"], let columns = Int(text), columns > 0 {
            return columns
        }
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Whether standard error is a terminal.
    static var isInteractive: Bool { isatty(STDERR_FILENO) == 1 }

    /// Says something on standard error.
    static func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

    /// Says on standard error how far something is: in place on a terminal, a line for each change elsewhere.
    static func progress(_ text: String, isLast: Bool = false) {
        guard isInteractive else { return say(text) }
        FileHandle.standardError.write(Data("\r\u{1B}[K\(text)\(isLast ? "\n" : "")".utf8))
    }
}
