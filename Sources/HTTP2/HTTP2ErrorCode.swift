internal import CNghttp2

/// The error codes of RFC 9113 7, as RST_STREAM and GOAWAY carry them.
package enum HTTP2ErrorCode: UInt32, Sendable, CaseIterable {
    case noError = 0x0
    case protocolError = 0x1
    case internalError = 0x2
    case flowControlError = 0x3
    case settingsTimeout = 0x4
    case streamClosed = 0x5
    case frameSizeError = 0x6
    /// The stream was not processed, so the request may be repeated.
    case refusedStream = 0x7
    case cancel = 0x8
    case compressionError = 0x9
    case connectError = 0xa
    case enhanceYourCalm = 0xb
    case inadequateSecurity = 0xc
    case http11Required = 0xd

    /// The code's name in the RFC, such as `REFUSED_STREAM`; the number of an unknown code.
    package static func name(_ code: UInt32) -> String {
        HTTP2ErrorCode(rawValue: code) == nil ? "error code \(code)" : String(cString: nghttp2_http2_strerror(code))
    }
}
