/// The name that a caller may give a request: 1 to 128 of letters, digits and `-._:/+=@`. It is written into logs and
/// answers as it came, so nothing else is let in.
package struct RequestID: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    package init?(rawValue: String) {
        guard (1...128).contains(rawValue.utf8.count), rawValue.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.rawValue = rawValue
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._:/+=@".utf8.contains(byte)
        }
    }
}
