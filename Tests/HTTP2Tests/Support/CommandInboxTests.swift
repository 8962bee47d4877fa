import Testing

@testable import HTTP2

@Suite struct CommandInboxTests {
    @Test func onlyTheFirstOfABatchWakes() {
        let inbox = CommandInbox<Int>()
        #expect(inbox.append(1))
        #expect(!inbox.append(2))
        #expect(inbox.count == 2)
        let taken = inbox.takeAll()
        #expect(taken == [1, 2])
        inbox.recycle(taken)
        #expect(inbox.takeAll().isEmpty)
        #expect(inbox.append(3))
        #expect(inbox.takeAll() == [3])
    }

    @Test func whatCameInBetweenSurvivesTheRecycling() {
        let inbox = CommandInbox<Int>()
        _ = inbox.append(1)
        let taken = inbox.takeAll()
        _ = inbox.append(2)
        inbox.recycle(taken)
        #expect(inbox.takeAll() == [2])
    }
}
