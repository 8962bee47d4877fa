/// A peer's GOAWAY (RFC 9113 6.8).
package struct HTTP2GoAway: Sendable, Hashable {
    /// Our streams above this ID were not processed and never will be.
    package let lastStream: Int
    /// An `HTTP2ErrorCode`, or any other number.
    package let code: UInt32
    /// At most `debugLimit` bytes. APNs puts `{"reason":…}` here.
    package let debugData: [UInt8]

    /// The most bytes of debug data that are kept.
    static let debugLimit = 4_096

    init(lastStream: Int, code: UInt32, debugData: some Collection<UInt8>) {
        self.lastStream = lastStream
        self.code = code
        self.debugData = Array(debugData.prefix(Self.debugLimit))
    }

    /// The error code and at most the first kilobyte of the debug data, without line breaks, for one log line.
    var text: String {
        let said = String(decoding: debugData.prefix(1_024), as: UTF8.self).map { $0.isNewline ? " " : $0 }
        return "GOAWAY \(HTTP2ErrorCode.name(code))" + (said.isEmpty ? "" : " \(String(said))")
    }
}
