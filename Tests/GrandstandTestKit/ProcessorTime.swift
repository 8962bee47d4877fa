#if canImport(Darwin)
    private import Darwin
#elseif canImport(Glibc)
    private import Glibc
#elseif canImport(Musl)
    private import Musl
#endif

/// The processor time of this thread for `body`. Other tests that run at the same time do not count.
package func processorTime(_ body: () throws -> Void) rethrows -> Duration {
    let began = threadTime()
    try body()
    return threadTime() - began
}

private func threadTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
