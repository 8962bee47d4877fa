internal import Foundation
internal import Synchronization

#if canImport(Darwin)
    private import Darwin
#elseif canImport(Glibc)
    private import Glibc
#elseif canImport(Musl)
    private import Musl
#endif

/// Prints the steps as they happen, and on a terminal a progress bar below them.
final class DemoReport: Sendable {
    private struct Progress {
        var done = 0
        var total: Int
    }

    private let progress: Mutex<Progress>
    private let isTerminal: Bool

    init(steps: Int) {
        progress = Mutex(Progress(total: steps))
        isTerminal = isatty(1) == 1
    }

    func heading(_ text: String) { line("\n\(text)") }

    /// Prints a finished step with its result.
    func step(_ what: String, _ result: String) {
        let (done, total) = progress.withLock { progress in
            progress.done += 1
            return (progress.done, progress.total)
        }
        let padding = String(repeating: " ", count: max(1, 54 - what.count))
        line("  \(what)\(padding)\(result)")
        if isTerminal { write("\r\u{1B}[2K\(Self.bar(done, total))") }
    }

    func line(_ text: String) {
        write(isTerminal ? "\r\u{1B}[2K\(text)\n" : "\(text)\n")
    }

    /// Removes the progress bar.
    func finish() {
        if isTerminal { write("\r\u{1B}[2K") }
    }

    private static func bar(_ done: Int, _ total: Int) -> String {
        let width = 40
        let filled = total == 0 ? width : min(width, width * done / total)
        return "[" + String(repeating: "█", count: filled) + String(repeating: "·", count: width - filled)
            + "] \(done)/\(total)"
    }

    private func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
}
