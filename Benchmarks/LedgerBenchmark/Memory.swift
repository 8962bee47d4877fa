internal import Foundation

/// Resident memory of this process, in megabytes, as Linux counts it; zeros elsewhere.
enum Memory {
    /// Begins a new peak.
    ///
    /// - Returns: what is resident now.
    static func mark() -> Int {
        // proc(5): 5 resets the peak.
        if let file = FileHandle(forWritingAtPath: "/proc/self/clear_refs") { file.write(Data("5".utf8)) }
        return field("VmRSS")
    }

    /// The most since the last mark.
    static var peakMegabytes: Int { field("VmHWM") }

    private static func field(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map { $0 / 1_024 } ?? 0
    }
}
