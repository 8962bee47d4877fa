package import GrandstandLiveActivities
internal import Synchronization

/// A keychain that cannot be read at first, as before the first unlock.
package final class LockableCredentials: CredentialStore {
    package struct Locked: Error {}

    private let store: FileCredentials
    private let left: Mutex<Int>

    package init(_ store: FileCredentials, fails: Int) {
        self.store = store
        left = Mutex(fails)
    }

    package func load() throws -> InstallationCredential? {
        let isLocked = left.withLock { left in
            left -= 1
            return left >= 0
        }
        if isLocked { throw Locked() }
        return try store.load()
    }

    package func keep(
        _ new: InstallationCredential, insteadOf old: InstallationCredential?
    ) throws -> InstallationCredential { try store.keep(new, insteadOf: old) }

    package func remove() throws { try store.remove() }
}
