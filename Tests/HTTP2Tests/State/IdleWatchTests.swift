import NIOCore
import Testing

@testable import HTTP2

struct IdleWatchTests {
    private func at(_ seconds: Int) -> NIODeadline { .uptimeNanoseconds(UInt64(seconds) * 1_000_000_000) }

    @Test func `a silent connection is idle after the timeout`() {
        var watch = IdleWatch(timeout: .seconds(10), now: at(0))
        #expect(watch.isOver(now: at(9), owed: 0) == false)
        watch.read(now: at(9))
        #expect(watch.next == at(19))
        #expect(watch.isOver(now: at(18), owed: 0) == false)
        #expect(watch.isOver(now: at(19), owed: 0) == true)
    }

    @Test func `a connection that waits for an answer is not idle`() {
        var watch = IdleWatch(timeout: .seconds(10), now: at(0))
        #expect(watch.isOver(now: at(10), owed: 1) == false)
        #expect(watch.next == at(20))
        #expect(watch.isOver(now: at(20), owed: 0) == true)
    }
}
