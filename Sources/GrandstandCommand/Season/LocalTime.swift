internal import Foundation

/// Local times, in seconds since 1970 as if they were in UTC.
extension TimeZone {
    /// The time zone with this name, such as `Europe/Vienna`; `nil`: this machine does not know it.
    static func named(_ name: String) -> TimeZone? {
        // Names that cannot be a time zone are not looked up.
        guard name.utf8.count <= 64, name.utf8.allSatisfy(isOfName), !name.hasPrefix("/"), !name.hasSuffix("/") else {
            return nil
        }
        return TimeZone(identifier: name)
    }

    static let utc = TimeZone.gmt

    private static func isOfName(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte & 0xDF) || (0x30...0x39).contains(byte) || "_+-/".utf8.contains(byte)
    }

    /// The instant at which the clock shows `local`. If the clock shows this time twice, the result is the first
    /// instant. If the clock skips this time, the offset before the change is used (RFC 5545 3.3.5).
    func instant(local: Int) -> Int {
        let before = offset(at: local - 86_400)
        if offset(at: local - before) == before { return local - before }
        let after = offset(at: local + 86_400)
        return offset(at: local - after) == after ? local - after : local - before
    }

    private func offset(at time: Int) -> Int { secondsFromGMT(for: Date(timeIntervalSince1970: Double(time))) }
}
