internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

struct LiveBoardTests {
    private static func summary(_ number: Int, _ counts: [Delivery.State: Int] = [.queued: 1]) -> BroadcastSummary {
        BroadcastSummary(
            id: UUID(uuid: (UInt8(number), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), event: .update,
            acceptedAt: Date(timeIntervalSince1970: Double(number)), sendAt: nil,
            isScheduled: false, counts: counts)
    }

    private static func board(_ broadcasts: [BroadcastSummary], _ state: Event.State = .live) throws -> LiveBoard {
        LiveBoard(
            eventKey: try #require(EventKey(rawValue: "derby")), state: state, broadcasts: broadcasts)
    }

    @Test func `new and changed broadcasts are listed, the oldest first, and the event's state`() throws {
        let earlier = try Self.board([Self.summary(2), Self.summary(1)])
        let later = try Self.board([Self.summary(3), Self.summary(2, [.accepted: 1]), Self.summary(1)])
        #expect(
            later.changes(since: earlier) == [.broadcast(Self.summary(2, [.accepted: 1])), .broadcast(Self.summary(3))])
        #expect(later.changes(since: later).isEmpty && later.tag != earlier.tag)
        #expect(try Self.board([], .live).changes(since: Self.board([], .scheduled)) == [.state(.live)])
    }
}
