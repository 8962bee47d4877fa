package import Calendars
internal import FoundationEssentials
internal import Synchronization

/// The time zones of the system's tzdata, read once each: they are brought up to date with the system, and a start takes
/// what is new.
package final class ZoneFiles: Sendable {
    private let folder: String
    private let known = Mutex<[String: ZoneRules]>([:])

    package init(folder: String = "/usr/share/zoneinfo") { self.folder = folder }

    /// The zone of this name; `nil`: there is none, or the text is no name at all.
    package func zone(_ name: String) -> ZoneRules? {
        if let zone = known.withLock({ $0[name] }) { return zone }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard name.utf8.count <= 64, (1...3).contains(parts.count), parts.allSatisfy(Self.isPart),
            let file = FileManager.default.contents(atPath: "\(folder)/\(name)"), file.count <= 65_536,
            let zone = ZoneRules(file: Array(file))
        else { return nil }
        known.withLock { $0[name] = zone }
        return zone
    }

    /// A name leads nowhere else.
    private static func isPart(_ part: Substring) -> Bool {
        !part.isEmpty
            && part.utf8.allSatisfy { byte in
                (0x41...0x5A).contains(byte & 0xDF) || (0x30...0x39).contains(byte) || "_+-".utf8.contains(byte)
            }
    }
}
