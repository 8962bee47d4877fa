internal import APNsWire
internal import Testing

struct APNsReasonTests {
    @Test(
        "spellings seen in the field mean the documented reason",
        arguments: [
            ("Service Unavailable", APNsReason.serviceUnavailable),
            ("ServiceUnavailable", .serviceUnavailable),
            ("FeatureNotEnabled", .broadcastFeatureNotEnabled),
            ("BadEnvironmentKeyIdInToken", .badEnvironmentKeyInToken),
            ("BadPath", .badPath),
        ])
    func aliases(text: String, reason: APNsReason) {
        #expect(APNsReason(rawValue: text) == reason)
    }

    @Test(
        "an unknown reason keeps its text and is judged by status",
        arguments: [
            (400, APNsReason.Meaning.badRequest), (403, .credentials), (410, .channelGone), (429, .throttled),
            (500, .unavailable), (503, .unavailable),
        ])
    func unknown(status: Int, meaning: APNsReason.Meaning) {
        let reason = APNsReason(rawValue: "Something New")
        #expect(reason.rawValue == "Something New")
        #expect(reason.status == nil)
        #expect(reason.meaning(status: status) == meaning)
    }

    @Test("a known reason means the same whatever the status")
    func knownWins() {
        #expect(APNsReason.badChannelId.meaning(status: 500) == .channelGone)
        #expect(APNsReason.cannotCreateChannelConfig.meaning(status: 400) == .quota)
    }

    @Test("every row of the table is found by its own name")
    func table() {
        for row in APNsReason.table {
            #expect(APNsReason(rawValue: row.reason.rawValue) == row.reason)
            #expect(row.reason.status == row.status)
        }
        #expect(Set(APNsReason.table.map(\.reason)).count == APNsReason.table.count)
    }
}
