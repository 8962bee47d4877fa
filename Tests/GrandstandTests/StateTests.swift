internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Testing

struct StateTests {
    private let now = Date(timeIntervalSince1970: 100)
    private let before = Date(timeIntervalSince1970: 50)
    private let after = Date(timeIntervalSince1970: 150)

    @Test func `an event is live from its start or its first update`() {
        func state(_ startsAt: Date?, _ first: Date?, _ ended: Date?, _ cancelled: Date?) -> Contract.EventState {
            Contract.EventState(
                startsAt: startsAt, firstUpdateAt: first, endedAt: ended, cancelledAt: cancelled, now: now)
        }
        #expect(state(nil, nil, nil, nil) == .scheduled)
        #expect(state(after, nil, nil, nil) == .scheduled)
        #expect(state(before, nil, nil, nil) == .live)
        #expect(state(after, before, nil, nil) == .live)
        #expect(state(before, before, before, nil) == .ended)
        #expect(state(before, before, nil, before) == .cancelled)
    }

    @Test func `a broadcast is done when every delivery is settled, and cancelled if nothing was or will be sent`() {
        func state(_ deliveries: [Contract.DeliveryState], isCancelled: Bool = false) -> Contract.BroadcastState {
            Contract.BroadcastState(isScheduled: false, isCancelled: isCancelled, deliveries: deliveries)
        }
        #expect(state([.accepted, .sending]) == .queued)
        #expect(state([.accepted, .superseded, .accepted]) == .done)
        #expect(state([.cancelled, .cancelled]) == .cancelled)
        #expect(state([.cancelled, .accepted]) == .done)
        #expect(state([]) == .done)
        #expect(state([], isCancelled: true) == .cancelled)
    }
}
