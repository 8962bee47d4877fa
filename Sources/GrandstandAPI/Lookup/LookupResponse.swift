internal import Grandstand
internal import GrandstandService
internal import NIOCore

/// A lookup's answer as it goes over the wire, the same that `Response.lookup` says through the router.
struct LookupResponse {
    let body: LookupBody
    let freshness: LookupReplica.Freshness
    let isNotModified: Bool
    /// How the key stands to its limit, if it has one.
    let standing: RateLimit.Standing?
    /// The header fields of every answer, with the ends of lines.
    let headers: [UInt8]
    /// As it stands in `Date`.
    let date: [UInt8]

    /// More than all header fields together take.
    private static let headCapacity = 640

    func write(to buffer: inout ByteBuffer) {
        buffer.reserveCapacity(minimumWritableBytes: Self.headCapacity + body.bytes.count)
        if isNotModified {
            buffer.writeStaticString("HTTP/1.1 304 Not Modified\r\nETag: \"")
        } else {
            buffer.writeStaticString("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ")
            buffer.writeString(String(body.bytes.count))
            buffer.writeStaticString("\r\nETag: \"")
        }
        buffer.writeHexadecimal(body.tag.hash)
        buffer.writeStaticString("\"\r\nCache-Control: public, max-age=10\r\nX-Request-Id: ")
        buffer.writeHexadecimal(.random(in: .min ... .max))
        if case .stale(let seconds) = freshness {
            buffer.writeStaticString("\r\nWarning: 110 - \"Response is Stale\"\r\nAge: ")
            buffer.writeString(String(seconds))
        }
        if let standing {
            buffer.writeStaticString("\r\nRateLimit-Limit: ")
            buffer.writeString(String(standing.limit))
            buffer.writeStaticString("\r\nRateLimit-Remaining: ")
            buffer.writeString(String(standing.remaining))
            buffer.writeStaticString("\r\nRateLimit-Reset: ")
            buffer.writeString(String(standing.reset))
        }
        buffer.writeStaticString("\r\n")
        buffer.writeBytes(headers)
        buffer.writeStaticString("Date: ")
        buffer.writeBytes(date)
        buffer.writeStaticString("\r\n\r\n")
        if !isNotModified { buffer.writeBytes(body.bytes) }
    }
}

extension ByteBuffer {
    fileprivate mutating func writeHexadecimal(_ value: UInt64) {
        let digits: StaticString = "0123456789abcdef"
        // As `String(_:radix:)` writes it: without leading zeros.
        var shift = max(0, (63 - value.leadingZeroBitCount) / 4 * 4)
        writeWithUnsafeMutableBytes(minimumWritableBytes: 16) { target in
            var count = 0
            while shift >= 0 {
                target[count] = digits.utf8Start[Int(truncatingIfNeeded: value >> UInt64(shift)) & 15]
                count += 1
                shift -= 4
            }
            return count
        }
    }
}
