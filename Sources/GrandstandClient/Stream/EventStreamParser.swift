package import Foundation

/// Parses `text/event-stream` (WHATWG HTML 9.2.6) from pieces of any size.
package struct EventStreamParser: Sendable {
    /// A message of the stream.
    package struct Message: Sendable, Hashable {
        package var id: String?
        package var name: String
        package var data: String
    }

    /// The wait before the stream is opened again, as the server wants it, in milliseconds.
    package private(set) var retry: Int?
    /// The `id` of the last complete message. The next connection continues after it.
    package private(set) var lastID: String?

    /// The `id` of the present message, or of an earlier one.
    private var id: String?
    private var line: [UInt8] = []
    private var isFirstLine = true
    private var endedWithReturn = false
    private var name = ""
    private var data: [String] = []

    package init() {}

    /// Parses the next bytes.
    ///
    /// - Returns: the messages that are now complete.
    package mutating func take(_ bytes: Data) -> [Message] {
        var messages: [Message] = []
        for byte in bytes {
            defer { endedWithReturn = byte == 0x0D }
            switch byte {
            case 0x0A where endedWithReturn: continue
            case 0x0A, 0x0D:
                if let message = endLine() { messages.append(message) }
            default: line.append(byte)
            }
        }
        return messages
    }

    private mutating func endLine() -> Message? {
        if isFirstLine, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        isFirstLine = false
        defer { line = [] }
        if line.isEmpty { return dispatch() }
        let text = String(decoding: line, as: UTF8.self)
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var value = parts.count == 2 ? parts[1] : ""
        if value.hasPrefix(" ") { value = value.dropFirst() }
        switch parts[0] {
        case "event": name = String(value)
        case "data": data.append(String(value))
        case "id" where !value.contains("\0"): id = String(value)
        case "retry": retry = Int(value).flatMap { $0 >= 0 ? $0 : nil } ?? retry
        default: break
        }
        return nil
    }

    private mutating func dispatch() -> Message? {
        defer {
            name = ""
            data = []
        }
        lastID = id
        guard !data.isEmpty else { return nil }
        return Message(id: lastID, name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n"))
    }
}
