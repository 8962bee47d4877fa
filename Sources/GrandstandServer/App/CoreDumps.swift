#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Core dumps would contain this process's private keys and tokens, so they must not be written to a disk.
package enum CoreDumps {
    /// Turns core dumps off for this process and its children. A system that pipes core dumps to a program may still do
    /// this; an administrator must turn the pipe off.
    package static func disable() {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Glibc)
            _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        #else
            _ = setrlimit(RLIMIT_CORE, &limit)
        #endif
    }
}
