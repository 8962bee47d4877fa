internal import APNsWire
internal import Foundation
internal import Testing

@testable internal import APNsSimulator

struct ChannelIDsTests {
    @Test func `an ID has sixteen bytes in the layout of a UUID of version 1`() throws {
        var ids = ChannelIDs()
        var random = SeededRandom(seed: 7)
        // RFC 9562 A.1: 2022-02-22 19:22:22 UTC is tick 0x1EC9414C232AB00.
        let date = 1_645_557_742.0
        let bytes = try #require(Data(base64Encoded: ids.make(now: date, using: &random)))
        #expect(bytes.count == 16)
        #expect(Array(bytes.prefix(10)) == [0xC2, 0x32, 0xAB, 0x00, 0x94, 0x14, 0x11, 0xEC, 0, 0])
    }

    @Test func `IDs differ even at the same time, or when the clock goes back`() {
        var ids = ChannelIDs()
        var random = SeededRandom(seed: 7)
        let made = (0..<1_000).map {
            ids.make(now: Bench.now - Double($0), using: &random).prefix(11)
        }
        #expect(Set(made).count == 1_000)
    }
}
