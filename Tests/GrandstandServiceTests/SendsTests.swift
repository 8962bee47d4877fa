internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

/// Which expiration a channel that stores nothing takes is tried once, and remembered.
@Suite(.timeLimit(.minutes(1)))
struct SendsTests {
    private static let accepted = APNsAnswer<Void>.accepted((), APNsReceipt(requestID: "r"))
    private static let refused = APNsAnswer<Void>.refused(Sample.refusal(.badExpirationDate))
    /// `delivery`'s expiry, rounded up to a second.
    private static let expiry = 1_700_003_601

    private static func delivery(
        _ id: Int = 1, _ policy: StoragePolicy = .noMessageStored, expiration: Int = 0
    ) -> ClaimedDelivery {
        var delivery = Sample.delivery(id)
        delivery.storagePolicy = policy
        if case .broadcast(var message) = delivery.message {
            message.expiration = expiration
            delivery.message = .broadcast(message)
        }
        delivery.expiresAt = Sample.now.addingTimeInterval(3_600.5)
        return delivery
    }

    /// Sends through an APNs that answers the two readings like this.
    ///
    /// - Returns: the answer, and the expirations Apple was sent.
    private static func send(
        _ delivery: ClaimedDelivery = delivery(), zero: APNsAnswer<Void>, nonzero: APNsAnswer<Void>,
        _ quirks: FakeQuirks = FakeQuirks()
    ) async -> (answer: String, sent: [Int]) {
        let sent = Mutex<[Int]>([])
        let gateway = FakeGateway { message in
            sent.withLock { $0.append(message.expiration) }
            return message.expiration == 0 ? zero : nonzero
        }
        let sends = Sends(
            gateway: gateway, devices: FakeDevices(), examinations: Sample.examinations(quirks), now: { Sample.now })
        let answer = await sends.send(delivery)
        return ("\(answer)", sent.withLock { $0 })
    }

    @Test(arguments: [(1_700_000_000, 60), (0, 0), (1_699_999_999, -1)])
    func `what waited beyond its time, or beyond what it would tell APNs, is not sent`(
        _ expiration: Int, _ seconds: TimeInterval
    ) async {
        var delivery = Self.delivery(1, .mostRecentMessageStored, expiration: expiration)
        delivery.expiresAt = Sample.now.addingTimeInterval(seconds)
        let (answer, sent) = await Self.send(delivery, zero: Self.accepted, nonzero: Self.accepted)
        #expect(sent.isEmpty)
        #expect(answer.contains("its time ran out"))
    }

    @Test func `what is accepted is not tried in another way`() async {
        let quirks = FakeQuirks()
        let (answer, sent) = await Self.send(zero: Self.accepted, nonzero: Self.refused, quirks)
        #expect(answer == "\(Self.accepted)")
        #expect(sent == [0])
        #expect(quirks.learned.isEmpty)
    }

    @Test func `a refused expiration of zero is tried as the expiry, and that is learned`() async {
        let quirks = FakeQuirks()
        let (answer, sent) = await Self.send(zero: Self.refused, nonzero: Self.accepted, quirks)
        #expect(answer == "\(Self.accepted)")
        #expect(sent == [0, Self.expiry])
        #expect(
            quirks.learned == [
                Quirk(
                    environment: .production, name: .unstoredExpiration, value: "nonzero", learnedAt: Sample.now,
                    evidence: "BadExpirationDate for 0, \(Self.expiry) accepted",
                    believedUntil: Sample.now.addingTimeInterval(7 * 86_400))
            ])
        // One that was planned before is sent as it is now known to be taken.
        let (next, again) = await Self.send(zero: Self.refused, nonzero: Self.accepted, quirks)
        #expect(next == "\(Self.accepted)")
        #expect(again == [0, Self.expiry])
    }

    @Test func `a refused expiry is tried as zero, and that is learned`() async {
        let quirks = FakeQuirks()
        let delivery = Self.delivery(expiration: Self.expiry)
        let (answer, sent) = await Self.send(delivery, zero: Self.accepted, nonzero: Self.refused, quirks)
        #expect(answer == "\(Self.accepted)")
        #expect(sent == [Self.expiry, 0])
        #expect(quirks.learned.map(\.value) == ["zero"])
    }

    @Test func `refused both ways, Apple's rule holds, and nothing is tried again for a week`() async {
        let quirks = FakeQuirks()
        let (answer, sent) = await Self.send(zero: Self.refused, nonzero: Self.refused, quirks)
        #expect(answer == "\(Self.refused)")
        #expect(sent == [0, Self.expiry])
        #expect(quirks.learned.map(\.value) == ["zero"])
        #expect(quirks.learned.map(\.evidence) == ["BadExpirationDate for 0 and for \(Self.expiry)"])

        let (next, again) = await Self.send(zero: Self.refused, nonzero: Self.refused, quirks)
        #expect(next == "\(Self.refused)")
        #expect(again == [0])
    }

    @Test func `a conclusion older than a week is tried again`() async {
        let quirks = FakeQuirks(
            Quirk(
                environment: .production, name: .unstoredExpiration, value: "zero",
                learnedAt: Sample.now.addingTimeInterval(-7 * 86_400 - 1), evidence: "seen before"))
        let (answer, sent) = await Self.send(zero: Self.refused, nonzero: Self.accepted, quirks)
        #expect(answer == "\(Self.accepted)")
        #expect(sent == [0, Self.expiry])
        #expect(quirks.learned.map(\.value) == ["nonzero"])
    }

    @Test(arguments: [0, expiry])
    func `a channel that stores its message is never tried in another way`(_ expiration: Int) async {
        let quirks = FakeQuirks()
        let delivery = Self.delivery(1, .mostRecentMessageStored, expiration: expiration)
        let (answer, sent) = await Self.send(delivery, zero: Self.refused, nonzero: Self.refused, quirks)
        #expect(answer == "\(Self.refused)")
        #expect(sent == [expiration])
        #expect(quirks.learned.isEmpty && quirks.abandoned == 0)
    }

    @Test(arguments: [
        APNsAnswer<Void>.refused(Sample.refusal(.badPriority)), .refused(Sample.refusal(.serviceUnavailable)),
        .refused(Sample.refusal(.channelNotRegistered)), .unanswered("lost"), .unsent("no key"),
    ])
    func `only BadExpirationDate is a reason to try`(_ answer: APNsAnswer<Void>) async {
        let quirks = FakeQuirks()
        let (told, sent) = await Self.send(zero: answer, nonzero: Self.accepted, quirks)
        #expect(told == "\(answer)")
        #expect(sent == [0])
        #expect(quirks.learned.isEmpty && quirks.abandoned == 0)
    }

    @Test(arguments: [
        APNsAnswer<Void>.refused(Sample.refusal(.serviceUnavailable)), .unanswered("lost"), .unsent("no stream"),
    ])
    func `a trial that tells nothing is not remembered`(_ second: APNsAnswer<Void>) async {
        let quirks = FakeQuirks()
        let (told, sent) = await Self.send(zero: Self.refused, nonzero: second, quirks)
        // It is tried again: BadExpirationDate would be for good.
        #expect(told == "\(second)")
        #expect(sent == [0, Self.expiry])
        #expect(quirks.learned.isEmpty && quirks.abandoned == 1)
        let (answer, again) = await Self.send(zero: Self.refused, nonzero: Self.accepted, quirks)
        #expect(answer == "\(Self.accepted)")
        #expect(again == [0, Self.expiry])
    }

    @Test func `twenty refused at once make one trial`() async {
        let first = Valve()
        let trial = Valve()
        let sent = Mutex<[Int]>([])
        let gateway = FakeGateway { message in
            sent.withLock { $0.append(message.expiration) }
            await (message.expiration == 0 ? first : trial).pass()
            return Self.refused
        }
        let quirks = FakeQuirks()
        let sends = Sends(
            gateway: gateway, devices: FakeDevices(), examinations: Sample.examinations(quirks), now: { Sample.now })
        let answers = await withTaskGroup(of: String.self) { group in
            for id in 0..<20 { group.addTask { "\(await sends.send(Self.delivery(id)))" } }
            await first.hold(20)
            first.open()
            await trial.hold(1)
            // The others do not wait for the trial: they are tried again.
            var answers: [String] = []
            for _ in 0..<19 { if let answer = await group.next() { answers.append(answer) } }
            #expect(answers.allSatisfy { $0.hasPrefix("withheld") })
            trial.open()
            if let answer = await group.next() { answers.append(answer) }
            return answers
        }
        #expect(answers.last == "\(Self.refused)")
        #expect(sent.withLock { $0.count { $0 == 0 } } == 20)
        #expect(sent.withLock { $0.count { $0 == Self.expiry } } == 1)
        #expect(quirks.learned.count == 1)
    }
}
