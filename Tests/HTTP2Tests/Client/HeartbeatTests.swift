import NIOCore
import Testing

@testable import HTTP2

struct HeartbeatTests {
    private func at(_ seconds: Int) -> NIODeadline { .uptimeNanoseconds(UInt64(seconds) * 1_000_000_000) }

    private func heartbeat() -> Heartbeat {
        Heartbeat(idle: .seconds(60), overdue: .seconds(5), timeout: .seconds(2), now: at(0))
    }

    @Test func `without awaited answers a PING is sent late`() {
        var beat = heartbeat()
        #expect(beat.check(now: at(59)) == .wait)
        #expect(beat.check(now: at(60)) == .ping)
        #expect(beat.check(now: at(61)) == .wait)
        #expect(beat.check(now: at(62)) == .dead)
    }

    @Test func `with awaited answers a PING is sent soon`() {
        var beat = heartbeat()
        beat.awaiting(true, now: at(30))
        #expect(beat.check(now: at(34)) == .wait)
        #expect(beat.check(now: at(35)) == .ping)
        #expect(beat.next == at(37))
    }

    @Test func `all received bytes count as a sign of life`() {
        var beat = heartbeat()
        beat.awaiting(true, now: at(0))
        #expect(beat.check(now: at(5)) == .ping)
        beat.read(now: at(6))
        #expect(beat.check(now: at(7)) == .wait)
        #expect(beat.check(now: at(11)) == .ping)
    }

    @Test func `the silence counts from the beginning of the wait`() {
        var beat = heartbeat()
        beat.awaiting(true, now: at(50))
        beat.awaiting(true, now: at(54))
        #expect(beat.next == at(55))
        beat.awaiting(false, now: at(54))
        #expect(beat.next == at(60))
    }
}
