internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

struct StateTests {
    private let now = Date(timeIntervalSince1970: 100)
    private let before = Date(timeIntervalSince1970: 50)
    private let after = Date(timeIntervalSince1970: 150)

    @Test func `an event is live from its start or its first update`() {
        func state(_ startsAt: Date?, _ first: Date?, _ ended: Date?, _ cancelled: Date?) -> Event.State {
            Event.State(startsAt: startsAt, firstUpdateAt: first, endedAt: ended, cancelledAt: cancelled, now: now)
        }
        #expect(state(nil, nil, nil, nil) == .scheduled)
        #expect(state(after, nil, nil, nil) == .scheduled)
        #expect(state(before, nil, nil, nil) == .live)
        #expect(state(after, before, nil, nil) == .live)
        #expect(state(before, before, before, nil) == .ended)
        #expect(state(before, before, nil, before) == .cancelled)
    }

    @Test func `an audience without a channel waits until its channels open, then it is pending`() {
        #expect(Audience.ChannelStatus(channel: nil, channelsOpenAt: after, now: now).state == .waiting)
        #expect(Audience.ChannelStatus(channel: nil, channelsOpenAt: before, now: now).state == .pending)
        #expect(Audience.ChannelStatus(channel: nil, channelsOpenAt: nil, now: now).state == .pending)
    }

    @Test func `a broadcast is done when every delivery is settled, and cancelled if nothing was or will be sent`()
        throws
    {
        func broadcast(_ states: [Delivery.State]) throws -> Broadcast {
            let bundleID = try #require(BundleID(rawValue: "com.example"))
            return Broadcast(
                id: UUID(), eventKey: nil, event: .update, acceptedAt: now, sendAt: nil, isScheduled: false,
                deliveries: states.map { state in
                    Delivery(
                        bundleID: bundleID, environment: .production, channelID: nil, state: state, attempts: 0,
                        priority: .immediate, apnsExpiration: 0, timestamp: nil, apnsRequestID: UUID(),
                        apnsUniqueID: nil, reason: nil, nextAttemptAt: nil, settledAt: nil)
                }, warnings: [])
        }
        #expect(try broadcast([.accepted, .sending]).state == .queued)
        let done = try broadcast([.accepted, .superseded, .accepted])
        #expect(done.state == .done)
        #expect(try broadcast([.cancelled, .cancelled]).state == .cancelled)
        #expect(try broadcast([.cancelled, .accepted]).state == .done)
        #expect(try broadcast([]).state == .done)
        var withdrawn = try broadcast([])
        withdrawn.isCancelled = true
        #expect(withdrawn.state == .cancelled)
        #expect(done.counts.map { "\($0.state) \($0.count)" } == ["accepted 2", "superseded 1"])
    }

    @Test(arguments: [
        (79, Quota.Level.ok), (80, .warning), (94, .warning), (95, .critical), (100, .critical),
    ])
    func `the quota's levels change at 80 and 95 percent of the limit`(used: Int, level: Quota.Level) throws {
        let quota = Quota(
            bundleID: try #require(BundleID(rawValue: "com.example")), environment: .production, limit: 100,
            byState: [.active: used - 1, .creating: 1, .deleted: 500], byStoragePolicy: [:],
            forecast: Forecast(spans: [], limit: 100, now: now))
        #expect(quota.level == level)
        #expect(quota.available == 100 - used)
    }
}
