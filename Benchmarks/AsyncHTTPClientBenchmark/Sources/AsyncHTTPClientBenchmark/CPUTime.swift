#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// What this process has used so far.
enum CPUTime {
    /// Seconds in user and kernel mode, all threads.
    static var seconds: Double {
        let usage = usage()
        return Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
    }

    /// Peak resident memory in megabytes (Linux counts kilobytes).
    static var peakMegabytes: Int { usage().ru_maxrss / 1_024 }

    private static func usage() -> rusage {
        var usage = rusage()
        #if canImport(Glibc)
            _ = getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #else
            _ = getrusage(RUSAGE_SELF, &usage)
        #endif
        return usage
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}
