internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Testing

/// Messages stored for devices that are offline.
struct StoredMessageTests {
    private let end = #"{"aps":{"timestamp":1780000001,"event":"end"}}"#

    @Test func `the newest message is stored until its expiration`() throws {
        var bench = try Bench()
        try bench.addChannels()
        let expiration = "\(Int(Bench.now.timeIntervalSince1970) + 60)"
        _ = try bench.broadcast(on: bench.stored, ["apns-expiration": expiration])
        let answer = try bench.broadcast(on: bench.stored, ["apns-expiration": expiration], end)

        let message = try #require(stored(bench, after: 59))
        #expect(message.body == Array(end.utf8))
        #expect(message.uniqueID == answer[header: "apns-unique-id"])
        #expect(stored(bench, after: 60) == nil)
    }

    @Test func `a message is stored for at most 8 hours`() throws {
        var bench = try Bench()
        try bench.addChannels()
        let expiration = "\(Int(Bench.now.timeIntervalSince1970) + 100_000)"
        _ = try bench.broadcast(on: bench.stored, ["apns-expiration": expiration])
        #expect(stored(bench, after: 28_799) != nil)
        #expect(stored(bench, after: 28_800) == nil)
    }

    @Test(arguments: ["0", "1", "soon"])
    func `after expiration 0, a time in the past or a refusal the stored message stays`(expiration: String) throws {
        var bench = try Bench()
        try bench.addChannels()
        let future = "\(Int(Bench.now.timeIntervalSince1970) + 60)"
        _ = try bench.broadcast(on: bench.stored, ["apns-expiration": future])
        _ = try bench.broadcast(on: bench.stored, ["apns-expiration": expiration], end)
        #expect(stored(bench, after: 0)?.body == Array(Bench.update.utf8))
    }

    @Test func `a channel that stores nothing has no stored message`() throws {
        var bench = try Bench()
        try bench.addChannels()
        #expect(try bench.broadcast(on: bench.none).status == 200)
        let message = bench.state.storedMessage(
            on: bench.none, of: Bench.bundleID, in: .development, now: Bench.now)
        #expect(message == nil)
    }

    private func stored(_ bench: Bench, after seconds: Double) -> StoredMessage? {
        bench.state.storedMessage(
            on: bench.stored, of: Bench.bundleID, in: .development, now: Bench.now.addingTimeInterval(seconds))
    }
}
