/// The ID that a caller may give to a request: 1 to 128 letters, digits and `-._:/+=@`. It is copied to logs and
/// answers, so no other characters are allowed.
package struct RequestID: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    package init?(rawValue: String) {
        guard (1...128).contains(rawValue.utf8.count),
            rawValue.utf8.allSatisfy({ $0.isAlphanumeric || "-._:/+=@".utf8.contains($0) })
        else { return nil }
        self.rawValue = rawValue
    }
}
