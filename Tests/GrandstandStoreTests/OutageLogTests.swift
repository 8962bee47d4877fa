internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

/// An outage is logged once when it begins and once when it ends.
struct OutageLogTests {
    @Test func `an outage gives one warning, however many attempts fail, and a notice when it is over`() {
        let lines = LogLines()
        let log = OutageLog("the thing could not be read", lines.logger)
        let error = Problem(.storeUnavailable, "gone")
        log.worked()
        for _ in 1...100 { log.failed(error) }
        log.worked()
        log.worked()
        log.failed(error)
        #expect(
            lines.all == [
                "warning the thing could not be read; trying again", "notice over: the thing could not be read",
                "warning the thing could not be read; trying again",
            ])
    }
}
