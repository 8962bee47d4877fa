/// A peer's GOAWAY (RFC 9113 6.8).
struct GoAway: Sendable, Hashable {
    /// Streams of ours above this id were not and will not be processed.
    var lastStream: Int
    var code: UInt32
    /// At most `debugLimit` bytes. APNs puts `{"reason":…}` here.
    var debugData: [UInt8]

    /// More of the peer's words than this are not kept.
    static let debugLimit = 4_096

    init(lastStream: Int, code: UInt32, debugData: some Collection<UInt8>) {
        self.lastStream = lastStream
        self.code = code
        self.debugData = Array(debugData.prefix(Self.debugLimit))
    }

    /// The first kilobyte at most, so that it fits a log line in one line.
    var text: String {
        let said = String(decoding: debugData.prefix(1_024), as: UTF8.self).map { $0.isNewline ? " " : $0 }
        return "GOAWAY \(HTTP2ErrorCode.name(code))" + (said.isEmpty ? "" : " \(String(said))")
    }
}
