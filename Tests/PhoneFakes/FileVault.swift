package import Foundation
internal import GrandstandLiveActivities
internal import Synchronization

/// A keychain in a file. It may be locked at first, as before the first unlock.
package final class FileVault: Vault {
    private let file: URL
    private let refusals: Mutex<Int>

    /// - Parameter refusals: how many reads fail first.
    package init(file: URL, refusals: Int = 0) {
        self.file = file
        self.refusals = Mutex(refusals)
    }

    package func read() throws -> Data? {
        let isLocked = refusals.withLock { left in
            left -= 1
            return left >= 0
        }
        if isLocked { throw CocoaError(.fileReadNoPermission) }
        return try? Data(contentsOf: file)
    }

    package func write(_ data: Data?) throws {
        if let data { try data.write(to: file) } else { try? FileManager.default.removeItem(at: file) }
    }
}
