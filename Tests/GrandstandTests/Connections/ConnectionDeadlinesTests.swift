internal import Testing

@testable internal import Grandstand

/// The time limits of a connection, step by step.
struct ConnectionDeadlinesTests {
    typealias Step = ConnectionDeadlines.Step

    /// Steps with their times, and the deadline after them.
    static let courses: [(what: String, steps: [(Int64, Step)], deadline: Int64?)] = [
        ("a header has its time limit", [], 10), ("a body has its own", [(5, .header)], 35),
        ("an answer has none", [(5, .header), (6, .end)], nil),
        ("after it the connection is idle", [(5, .header), (6, .end), (100, .answered())], 160),
        ("then comes the next header", [(5, .header), (6, .end), (100, .answered()), (110, .header)], 140),
        ("after an early answer the body keeps its time limit", [(1, .header), (2, .answered())], 31),
        ("then the connection is idle", [(1, .header), (2, .answered()), (20, .end)], 80),
        ("two of three requests have no answer yet", three + [(2, .answered())], nil),
        ("all requests are answered", three + [(2, .answered()), (4, .answered(2))], 64),
        (
            "a request after the server's last answer does not keep the connection",
            [
                (1, .header), (1, .end), (2, .answered()), (3, .finished), (4, .header), (4, .end),
            ], 63
        ),
        (
            "a client does not read the answer",
            [(1, .header), (1, .end), (5, .writable(false)), (9, .writable(false))], 35
        ),
        ("a client reads it late", [(1, .header), (1, .end), (5, .writable(false)), (24, .writable(true))], nil),
        ("a stop waits only a short time for an incomplete body", [(1, .header), (5, .stop)], 15),
        ("a stop waits for an answer as usual", [(1, .header), (5, .stop), (6, .end)], nil),
        (
            "a stop does not wait for a client that does not read",
            [(1, .header), (1, .end), (5, .stop), (9, .writable(false))], 19
        ),
    ]

    private static let three = [Step.header, .end, .header, .end, .header, .end].map { (Int64(1), $0) }

    @Test func `each step of a connection has its time limit`() {
        for (what, steps, deadline) in Self.courses {
            var deadlines = ConnectionDeadlines(header: 10, at: 0)
            for (time, step) in steps { deadlines.note(step, at: time) }
            #expect(deadlines.deadline == deadline, "\(what)")
        }
    }
}
