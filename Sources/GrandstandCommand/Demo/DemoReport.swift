internal import Foundation

/// Prints what the demo proves, each as one line, and on a terminal what it does now.
struct DemoReport: Sendable {
    private let isTerminal = Terminal.isOutput

    /// Prints a proof with its result.
    func proof(_ what: String, _ result: String) {
        line("  \(what)\(String(repeating: " ", count: max(1, 50 - what.count)))\(result)")
    }

    /// Prints a line in place of what the demo did until now.
    func line(_ text: String) { write(isTerminal ? "\r\u{1B}[2K\(text)\n" : "\(text)\n") }

    /// Shows on a terminal what the demo does now.
    func now(_ text: String) { if isTerminal { write("\r\u{1B}[2K  … \(text)") } }

    private func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
}
