#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// This process' memory holds private keys and tokens: it is not to be written to a disk when it crashes.
package enum CoreDumps {
    /// Turns them off, for this process and those it starts. A system that hands dumps to a program of its own may still
    /// do so: there, the administrator decides.
    package static func disable() {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Glibc)
            _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        #else
            _ = setrlimit(RLIMIT_CORE, &limit)
        #endif
    }
}
