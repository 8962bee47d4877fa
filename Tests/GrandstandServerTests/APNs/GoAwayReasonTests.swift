internal import Testing

@testable internal import GrandstandServer

struct GoAwayReasonTests {
    @Test(arguments: ["", "{}", "[]", #"{"reason":1}"#, #"{"reason":""}"#, "shut down", "{\"reason\":\"\u{0}"])
    func `debug data without a reason text have no reason and count as an ordinary GOAWAY`(data: String) {
        let reason = GoAwayReason(debugData: Array(data.utf8))
        #expect(reason.text == nil)
        #expect(reason.isOrdinary)
        #expect(reason.label == "none")
    }

    @Test(arguments: [
        ("Shutdown", true, false), ("IdleTimeout", true, false), ("InvalidProviderToken", false, false),
        ("TooManyRequests", false, false), ("ExpiredProviderToken", false, false), ("BadDeviceToken", false, true),
        ("DeviceTokenNotForTopic", false, true), ("ExpiredToken", false, true), ("Unregistered", false, true),
    ])
    func `a reason in APNs' JSON is ordinary, a mistake of this client, or about device tokens`(
        text: String, isOrdinary: Bool, concernsDeviceTokens: Bool
    ) {
        let reason = GoAwayReason(debugData: Array(#"{"timestamp":1,"reason":"\#(text)"}"#.utf8))
        #expect(reason.text == text)
        #expect(reason.label == text)
        #expect(reason.isOrdinary == isOrdinary)
        #expect(reason.concernsDeviceTokens == concernsDeviceTokens)
    }

    @Test(arguments: ["because of 17 things", String(repeating: "a", count: 300)])
    func `a label is short and plain, whatever the reason is`(text: String) {
        #expect(GoAwayReason(debugData: Array(#"{"reason":"\#(text)"}"#.utf8)).label == "other")
    }
}
