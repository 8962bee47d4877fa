/// The ID that a caller may give to a request: 1 to 128 letters, digits and `-._:/+=@`. It is copied to logs and
/// answers, so no other characters are allowed.
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
