internal import APNsWire
internal import FoundationEssentials
internal import Testing

@testable internal import Grandstand

/// Messages that are one entry of a broadcast's deliveries.
struct DeliveryEntryTests {
    private static func delivery(
        _ state: Delivery.State, total: Int = 1, timestamp: Int? = nil, reason: String? = nil
    ) throws -> Delivery {
        var counts = Delivery.Counts()
        counts.total = total
        return Delivery(
            counts: counts, bundleID: try #require(BundleID(rawValue: "com.example.Goal")),
            environment: .production, channelID: nil, state: state, attempts: 1, priority: .powerAware,
            apnsExpiration: 0, timestamp: timestamp, apnsRequestID: UUID(), apnsUniqueID: nil, reason: reason,
            nextAttemptAt: nil, settledAt: nil)
    }

    @Test(arguments: [
        (Delivery.State.accepted, Delivery.State.superseded, Delivery.State.accepted),
        (.accepted, .rejected, .accepted), (.accepted, .queued, .queued), (.sending, .accepted, .sending),
        (.superseded, .rejected, .superseded), (.rejected, .rejected, .rejected),
    ])
    func `an entry says what is not settled yet, then what somebody got, whichever comes first`(
        one: Delivery.State, other: Delivery.State, joined: Delivery.State
    ) throws {
        let (one, other) = (try Self.delivery(one), try Self.delivery(other))
        #expect([one, other].withCrowdsJoined.map(\.state) == [joined])
        #expect([other, one].withCrowdsJoined.map(\.state) == [joined])
    }

    @Test func `what was done with an empty crowd says nothing of the rest`() throws {
        let (empty, refused) = (try Self.delivery(.accepted, total: 0), try Self.delivery(.rejected))
        for entry in [[empty, refused], [refused, empty]] {
            #expect(entry.withCrowdsJoined.map(\.state) == [.rejected])
        }
        #expect([empty, empty].withCrowdsJoined.map(\.state) == [.accepted])
    }

    @Test func `the timestamp and the reason of either are told`() throws {
        let sent = try Self.delivery(.accepted, timestamp: 17, reason: "BadPriority")
        let queued = try Self.delivery(.queued)
        for entry in [[sent, queued], [queued, sent]] {
            let joined = try #require(entry.withCrowdsJoined.first)
            #expect(joined.timestamp == 17)
            #expect(joined.reason == "BadPriority")
            #expect(joined.state == .queued)
        }
    }
}
