import Testing

@testable import HTTP2

struct DurationWordsTests {
    @Test(arguments: [
        (Duration.seconds(5) - .nanoseconds(1_964), "5 s"), (.seconds(2), "2 s"), (.milliseconds(2_540), "2.5 s"),
        (.milliseconds(50), "50 ms"), (.seconds(1) - .microseconds(1), "1 s"), (.seconds(300), "300 s"),
    ])
    func `a duration is rounded for people`(_ duration: Duration, _ words: String) {
        #expect(duration.words == words)
    }
}
