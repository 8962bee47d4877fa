#if canImport(Darwin)
    private import Darwin
#elseif canImport(Glibc)
    private import Glibc
#elseif canImport(Musl)
    private import Musl
#endif

/// How long the processor works for `body`. On an idle machine that is the time that passes; here no other test counts.
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
