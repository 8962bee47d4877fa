internal import Cryptography
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit

/// A folder of key files, which is removed after the test.
struct KeyFolder {
    private let folder: TemporaryFolder

    static let credentials = Credentials(teamID: "TEAM567890", keyID: "KEY4567890")

    var path: String { folder.path }

    init() throws { folder = try TemporaryFolder() }

    func file(_ keyID: String = KeyFolder.credentials.keyID) -> String { folder.file("AuthKey_\(keyID).p8") }

    /// Writes a key file and sets its modification date, so that two changes within a second have different dates.
    func write(
        _ pem: String, keyID: String = KeyFolder.credentials.keyID, modifiedAt: TimeInterval = 1_000_000
    ) throws {
        try folder.write(pem, to: "AuthKey_\(keyID).p8")
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
