internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Testing

/// An event's defaults for messages without their own values.
struct EventDefaultsTests {
    private let now = Date(timeIntervalSince1970: 1_000.75)
    private let defaults = Contract.EventDefaults(
        priority: 10, staleAfter: 300, expiresIn: 60, relevanceScore: RawJSON(unchecked: "7.50".utf8))

    private func request(_ event: BroadcastPayload.Event) -> BroadcastRequest {
        BroadcastRequest(payload: BroadcastPayload(event: event, contentState: Array("{}".utf8)))
    }

    @Test func `a message without its own values gets the defaults`() {
        let filled = request(.update).filled(by: defaults, at: now)
        // The event's priority is not copied to the message's own priority, because the audience's priority is used
        // before the event's.
        #expect(filled.priority == nil && filled.eventPriority == .immediate)
        #expect(filled.expiresIn == 60 && filled.payload.staleDate == 1_300)
        #expect(filled.payload.relevanceScore == Array("7.50".utf8))
        // An end does not expire early.
        let end = request(.end).filled(by: defaults, at: now)
        #expect(end.expiresIn == nil && end.payload.staleDate == 1_300)
        #expect(request(.update).filled(by: Contract.EventDefaults(), at: now) == request(.update))
    }

    @Test func `a message's own values come first, even one set by a header`() {
        var own = request(.update)
        own.priority = .powerAware
        own.apnsExpiration = 0
        own.payload.staleDate = 5
        own.payload.relevanceScore = Array("1".utf8)
        let filled = own.filled(by: defaults, at: now)
        own.eventPriority = .immediate
        #expect(filled == own)
        var timed = request(.update)
        timed.expiresIn = 10
        #expect(timed.filled(by: defaults, at: now).expiresIn == 10)
    }
}
