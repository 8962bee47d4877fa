import Testing

@testable import HTTP2

struct CommandInboxTests {
    @Test func `only the first command of a batch wakes the receiver`() {
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

    @Test func `commands that arrive while an array is recycled are kept`() {
        let inbox = CommandInbox<Int>()
        _ = inbox.append(1)
        let taken = inbox.takeAll()
        _ = inbox.append(2)
        inbox.recycle(taken)
        #expect(inbox.takeAll() == [2])
    }

    @Test func `while commands are handed out an urgent command wakes the receiver, and so does every full burst`() {
        let inbox = CommandInbox<Int>()
        inbox.beginHandout()
        #expect(!inbox.append(1))
        #expect(inbox.append(2, isUrgent: true))
        for number in 3..<CommandInbox<Int>.burst { #expect(!inbox.append(number)) }
        #expect(inbox.append(64))
        #expect(inbox.takeAll().count == 64)
        #expect(!inbox.append(65))
        inbox.beginHandout()
        #expect(!inbox.endHandout(), "another one is under way")
        #expect(inbox.endHandout())
        #expect(inbox.takeAll() == [65])
        inbox.beginHandout()
        #expect(!inbox.endHandout(), "nothing came")
        #expect(inbox.append(66))
    }
}
