internal import Testing

@testable internal import APNsClient

struct GoAwayReasonTests {
    private func reason(_ text: String) -> GoAwayReason { GoAwayReason(debugData: Array(text.utf8)) }

    @Test func `the reason is read from APNs' JSON`() {
        #expect(reason(#"{"reason":"Shutdown"}"#).text == "Shutdown")
        #expect(reason(#"{"timestamp":1,"reason":"BadCertificate"}"#).text == "BadCertificate")
    }

    @Test(arguments: ["", "{}", "[]", #"{"reason":1}"#, #"{"reason":""}"#, "shut down", "{\"reason\":\"\u{0}"])
    func `debug data without a reason text have no reason and count as an ordinary GOAWAY`(data: String) {
        #expect(reason(data).text == nil)
        #expect(reason(data).isOrdinary)
        #expect(reason(data).label == "none")
    }

    @Test func `a shutdown or idle timeout is an ordinary GOAWAY, a mistake of this client is not`() {
        #expect(reason(#"{"reason":"Shutdown"}"#).isOrdinary)
        #expect(reason(#"{"reason":"IdleTimeout"}"#).isOrdinary)
        #expect(!reason(#"{"reason":"InvalidProviderToken"}"#).isOrdinary)
        #expect(!reason(#"{"reason":"TooManyRequests"}"#).isOrdinary)
    }

    @Test func `GOAWAY reasons about device tokens are told apart from all other reasons`() {
        for text in ["BadDeviceToken", "DeviceTokenNotForTopic", "ExpiredToken", "Unregistered"] {
            let reason = reason(#"{"reason":"\#(text)"}"#)
            #expect(reason.concernsDeviceTokens && !reason.isOrdinary)
        }
        for text in ["Shutdown", "TooManyRequests", "InvalidProviderToken", "ExpiredProviderToken"] {
            #expect(!reason(#"{"reason":"\#(text)"}"#).concernsDeviceTokens)
        }
    }

    @Test func `a label is short and plain, whatever the reason is`() {
        #expect(reason(#"{"reason":"InvalidProviderToken"}"#).label == "InvalidProviderToken")
        #expect(reason(#"{"reason":"because of 17 things"}"#).label == "other")
        #expect(reason(#"{"reason":"\#(String(repeating: "a", count: 300))"}"#).label == "other")
    }
}
