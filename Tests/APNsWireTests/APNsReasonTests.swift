internal import APNsWire
internal import Testing

struct APNsReasonTests {
    @Test(arguments: [
        ("Service Unavailable", APNsReason.serviceUnavailable),
        ("ServiceUnavailable", .serviceUnavailable),
        ("FeatureNotEnabled", .broadcastFeatureNotEnabled),
        ("BadEnvironmentKeyIdInToken", .badEnvironmentKeyInToken),
        ("BadPath", .badPath),
    ])
    func `other observed spellings mean the documented reason`(text: String, reason: APNsReason) {
        let read = APNsReason(rawValue: text)
        #expect(read == reason)
        #expect(read.hashValue == reason.hashValue)
        #expect(read.rawValue == reason.rawValue)
        // `text`, which people see, keeps the spelling that APNs sent.
        #expect(read.spelling == text)
        #expect("\(read)" == text)
    }

    @Test(arguments: [
        (400, APNsReason.Meaning.badRequest), (403, .credentials), (410, .targetGone), (429, .throttled),
        (500, .unavailable), (503, .unavailable),
    ])
    func `an unknown reason keeps its text and is judged by status`(status: Int, meaning: APNsReason.Meaning) {
        let reason = APNsReason(rawValue: "Something New")
        #expect(reason.rawValue == "Something New")
        #expect(reason.status == nil)
        #expect(reason.meaning(status: status) == meaning)
    }

    @Test func `a known reason means the same with any status`() {
        #expect(APNsReason.badChannelId.meaning(status: 500) == .targetGone)
        #expect(APNsReason.cannotCreateChannelConfig.meaning(status: 400) == .quota)
    }
}
