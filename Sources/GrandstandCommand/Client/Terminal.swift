internal import Foundation

/// The terminal that output goes to.
enum Terminal {
    /// The columns of standard output; `nil`: standard output is not a terminal. The variable `COLUMNS` overrides the
    /// number of columns.
    static var width: Int? {
        if let text = ProcessInfo.processInfo.environment["COLUMNS"], let columns = Int(text), columns > 0 {
            return columns
        }
        guard isOutput else { return nil }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Whether standard output is a terminal.
    static var isOutput: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether standard error is a terminal.
    static var isInteractive: Bool { isatty(STDERR_FILENO) == 1 }

    /// Prints a line to standard error.
    static func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

    /// Prints the progress to standard error: on a terminal in place, otherwise a new line for each change.
    static func progress(_ text: String, isLast: Bool = false) {
        guard isInteractive else { return say(text) }
        FileHandle.standardError.write(Data("\r\u{1B}[K\(text)\(isLast ? "\n" : "")".utf8))
    }
}
