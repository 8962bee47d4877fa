internal import Cryptography
internal import Foundation
internal import Grandstand

/// A folder of key files, which is removed after the test.
final class KeyFolder: Sendable {
    let path: String

    static let credentials = Credentials(teamID: "TEAM567890", keyID: "KEY4567890")

    init() throws {
        let place = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        path = place.appendingPathComponent("apns-client-\(UUID().uuidString.prefix(8))").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ keyID: String = KeyFolder.credentials.keyID) -> String { "\(path)/AuthKey_\(keyID).p8" }

    /// Writes a key file and sets its modification date, so that two changes within a second have different dates.
    func write(
        _ pem: String, keyID: String = KeyFolder.credentials.keyID, modifiedAt: TimeInterval = 1_000_000
    ) throws {
        try pem.write(toFile: file(keyID), atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: modifiedAt)], ofItemAtPath: file(keyID))
    }

    /// Writes a new P-256 key and returns it.
    @discardableResult
    func writeKey(
        keyID: String = KeyFolder.credentials.keyID, modifiedAt: TimeInterval = 1_000_000
    ) throws -> PrivateKey {
        let key = try PrivateKey.p256()
        try write(key.pem, keyID: keyID, modifiedAt: modifiedAt)
        return key
    }
}
