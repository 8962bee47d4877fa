internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

struct KeylessAppsTests {
    @Test func `an app without a key is left to others but for short moments, and this is logged twice in all`() {
        let fault = Mutex<String?>("gone")
        let log = LogLines()
        let watch = KeylessApps(fault: { _ in fault.withLock { $0 } }, logger: log.logger)
        let address = LoopSample.address()
        var claims: [Int] = []
        for second in 0..<70 {
            let now = LoopSample.now + Double(second)
            let lacking = watch.look([address.app: address.credentials], at: now)
            #expect(lacking == [address.app])
            guard watch.restingApps(in: .production, at: now).isEmpty else { continue }
            // Messages are claimed: those that expired end, and another one is withheld.
            claims.append(second)
            #expect(watch.lacks(address, at: now))
        }
        #expect(claims == [30, 60])
        fault.withLock { $0 = nil }
        #expect(watch.look([address.app: address.credentials], at: LoopSample.now).isEmpty)
        #expect(watch.restingApps(in: .production, at: LoopSample.now).isEmpty)
        #expect(
            log.all == [
                "error nothing is sent from here for \(address.app.bundleID): gone",
                "notice the key file \(address.credentials.keyID) can be used again for \(address.app.bundleID)",
            ])
    }
}

struct SendHealthTests {
    private static func at(_ seconds: TimeInterval) -> Date { LoopSample.now + seconds }

    @Test func `failures count from the first one until a later message is accepted`() throws {
        let rates = LoopSample.rates()
        func note(_ isAccepted: Bool, _ sentAt: TimeInterval, at now: TimeInterval) -> Bool {
            rates.note(isAccepted: isAccepted, of: LoopSample.bundleID, sentAt: Self.at(sentAt), at: Self.at(now))
        }
        #expect(note(true, 0, at: 1) == false)
        #expect([0, 1, 2].map { note(false, $0, at: $0 + 5) } == [true, false, false])
        let first = try #require(rates.drain().first)
        #expect(first.acceptedAt == Self.at(1))
        #expect(first.failingSince == Self.at(1))
        #expect(rates.drain().isEmpty)
        #expect(note(true, 0.5, at: 9) == false)
        #expect(note(true, 8, at: 10))
        let last = try #require(rates.drain().first)
        #expect(last.acceptedAt == Self.at(10))
        #expect(last.failingSince == nil)
        // An app of which every other message fails does not fill the log.
        #expect(note(false, 11, at: 12) == false)
    }
}
