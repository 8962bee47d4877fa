#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// Identifies the version of a file by its time of change, size and inode. Links are followed, because an update of a
/// Kubernetes Secret replaces only a link to the folder of the files.
package struct FileStamp: Sendable, Equatable {
    private let facts: [Int64]

    /// - Returns: `nil` if there is no such file.
    package init?(_ path: String) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        #if canImport(Darwin)
            let modified = facts.st_mtimespec
        #else
            let modified = facts.st_mtim
        #endif
        self.facts = [
            Int64(modified.tv_sec), Int64(modified.tv_nsec), Int64(facts.st_size),
            Int64(truncatingIfNeeded: facts.st_ino),
        ]
    }
}
