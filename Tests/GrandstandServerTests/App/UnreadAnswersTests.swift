internal import Testing

@testable internal import GrandstandServer

/// The bytes of answers that clients do not read.
struct UnreadAnswersTests {
    @Test func `beyond the limit of unread bytes the connections that have waited longest are closed`() {
        var unread = UnreadAnswers<String>(most: 100)
        #expect(unread.hold(40, for: "a") == [])
        #expect(unread.hold(60, for: "b") == [])
        #expect(unread.hold(10, for: "c") == ["a"])
        #expect(unread.bytes == 70)
        #expect(unread.hold(95, for: "d") == ["b", "c"])
        #expect(unread.bytes == 95)
    }

    @Test func `a connection whose client reads again counts no unread bytes`() {
        var unread = UnreadAnswers<String>(most: 100)
        #expect(unread.hold(90, for: "a") == [])
        #expect(unread.hold(0, for: "a") == [])
        #expect(unread.bytes == 0)
        #expect(unread.hold(90, for: "b") == [])
        // Connection `a` begins to wait again, so it is the last in the order.
        #expect(unread.hold(5, for: "a") == [])
        #expect(unread.hold(10, for: "c") == ["b"])
    }

    @Test func `a connection with an answer larger than the limit of unread bytes is closed`() {
        var unread = UnreadAnswers<String>(most: 100)
        #expect(unread.hold(101, for: "a") == ["a"])
        #expect(unread.bytes == 0)
    }
}
