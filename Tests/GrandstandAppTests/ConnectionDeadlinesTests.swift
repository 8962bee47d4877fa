internal import Testing

@testable internal import GrandstandApp

/// The time limits of a connection, step by step.
struct ConnectionDeadlinesTests {
    private let limits = ConnectionDeadlines.Limits(header: 10, body: 30, idle: 60, write: 20, leave: 2)

    @Test func `bytes that come one by one do not extend the time for a header`() {
        var deadlines = ConnectionDeadlines(limits, at: 0)
        for moment in 1...9 { deadlines.receivedBytes(at: Int64(moment)) }
        #expect(deadlines.deadline == 10)
    }

    @Test func `each step of a request has its time limit, and an answer has none`() {
        var deadlines = ConnectionDeadlines(limits, at: 0)
        deadlines.receivedBytes(at: 1)
        deadlines.receivedHeader(at: 5)
        #expect(deadlines.deadline == 35)
        deadlines.receivedEnd(at: 6)
        #expect(deadlines.deadline == nil)
        deadlines.answered(at: 100)
        #expect(deadlines.deadline == 160)
        deadlines.receivedBytes(at: 110)
        #expect(deadlines.deadline == 120)
    }

    @Test func `after an early answer the body keeps its time limit, then the connection is idle`() {
        var deadlines = ConnectionDeadlines(limits, at: 0)
        deadlines.receivedHeader(at: 1)
        deadlines.answered(at: 2)
        #expect(deadlines.deadline == 31)
        deadlines.receivedEnd(at: 20)
        #expect(deadlines.deadline == 80)
    }

    @Test func `a connection is idle after the answers to all of its requests`() {
        var deadlines = ConnectionDeadlines(limits, at: 0)
        for _ in 1...3 {
            deadlines.receivedHeader(at: 1)
            deadlines.receivedEnd(at: 1)
        }
        deadlines.answered(at: 2)
        #expect(deadlines.deadline == nil)
        deadlines.receivedBytes(at: 3)
        #expect(deadlines.deadline == nil)
        deadlines.answered(2, at: 4)
        #expect(deadlines.deadline == 64)
    }

    @Test func `a request after the server's last answer does not keep the connection`() {
        var deadlines = ConnectionDeadlines(limits, at: 0)
        deadlines.receivedHeader(at: 1)
        deadlines.receivedEnd(at: 1)
        deadlines.answered(at: 2)
        deadlines.finished(at: 3)
        deadlines.receivedBytes(at: 4)
        deadlines.receivedHeader(at: 4)
        deadlines.receivedEnd(at: 4)
        #expect(deadlines.deadline == 63)
    }

    @Test func `a client that does not read the answer is disconnected, one that reads it late is not`() {
        var deadlines = ConnectionDeadlines(limits, at: 0)
        deadlines.receivedHeader(at: 1)
        deadlines.receivedEnd(at: 1)
        deadlines.writability(false, at: 5)
        deadlines.writability(false, at: 9)
        #expect(deadlines.deadline == 25)
        deadlines.writability(true, at: 24)
        #expect(deadlines.deadline == nil)
    }

    @Test func `a stop waits only a short time for an incomplete body, and for an answer as usual`() {
        var deadlines = ConnectionDeadlines(limits, at: 0)
        deadlines.receivedHeader(at: 1)
        deadlines.stop(at: 5)
        #expect(deadlines.deadline == 7)
        deadlines.receivedEnd(at: 6)
        #expect(deadlines.deadline == nil)
    }

    @Test func `a stop does not wait for a client that does not read its answer`() {
        var deadlines = ConnectionDeadlines(limits, at: 0)
        deadlines.receivedHeader(at: 1)
        deadlines.receivedEnd(at: 1)
        deadlines.stop(at: 5)
        deadlines.writability(false, at: 9)
        #expect(deadlines.deadline == 11)
    }
}
