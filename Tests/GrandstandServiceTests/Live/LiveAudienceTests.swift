internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandService

@Suite(.timeLimit(.minutes(1)))
struct LiveAudienceTests {
    private static func board(_ subject: LiveSubject, _ count: Int) -> LiveBoard {
        LiveBoard(
            eventKey: subject.key, state: .live,
            broadcasts: [
                BroadcastSummary(
                    id: UUID(uuid: (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)), event: .update,
                    acceptedAt: Date(timeIntervalSince1970: 0), sendAt: nil, isScheduled: false,
                    counts: [.accepted: count])
            ])
    }

    private static func member(
        seen: String? = nil, buffer: Int = 8, reader: UUID = UUID()
    ) -> (LiveAudience.Member, AsyncStream<LiveUpdate>) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LiveUpdate.self, bufferingPolicy: .bufferingOldest(buffer))
        return (LiveAudience.Member(id: UUID(), reader: reader, seen: seen, continuation), stream)
    }

    /// Expects the result of a mutating call. The macro `#expect` cannot make such a call itself, because it treats the
    /// value as a constant.
    private func expect(_ value: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(value, sourceLocation: sourceLocation)
    }

    private let key: LiveSubject
    private let other: LiveSubject

    init() throws {
        key = LiveSubject(try #require(EventKey(rawValue: "derby")))
        other = LiveSubject(try #require(EventKey(rawValue: "other")))
    }

    @Test func `new readers get a snapshot, the others the changes, and nobody gets anything twice`() async {
        var audience = LiveAudience(maximum: 3, maximumPerKey: 3)
        let (first, firstStream) = Self.member()
        let (second, secondStream) = Self.member()
        expect(audience.add(first, to: key) == nil)
        _ = audience.show([key: Self.board(key, 1)])
        expect(audience.add(second, to: key) == nil)
        _ = audience.show([key: Self.board(key, 2)])
        _ = audience.show([key: Self.board(key, 2)])
        for continuation in audience.close() { continuation.finish() }
        let firstHeard = await firstStream.reduce(into: []) { $0.append($1) }
        let secondHeard = await secondStream.reduce(into: []) { $0.append($1) }
        let (one, two) = (Self.board(key, 1), Self.board(key, 2))
        #expect(
            firstHeard == [
                LiveUpdate(.snapshot(one), tag: one.tag), LiveUpdate(.broadcast(two.broadcasts[0]), tag: two.tag),
            ])
        #expect(secondHeard == [LiveUpdate(.snapshot(two), tag: two.tag)])
    }

    @Test func `a reader that has seen the present state gets no snapshot`() async {
        var audience = LiveAudience(maximum: 1, maximumPerKey: 1)
        let (member, stream) = Self.member(seen: Self.board(key, 1).tag)
        expect(audience.add(member, to: key) == nil)
        _ = audience.show([key: Self.board(key, 1)])
        _ = audience.show([key: Self.board(key, 2)])
        for continuation in audience.close() { continuation.finish() }
        let heard = await stream.reduce(into: []) { $0.append($1) }
        #expect(heard.map(\.tag) == [Self.board(key, 2).tag])
    }

    @Test func `only a reader that is too slow is ended`() {
        var audience = LiveAudience(maximum: 2, maximumPerKey: 2)
        let (slow, slowStream) = Self.member(buffer: 1)
        let (quick, quickStream) = Self.member()
        _ = audience.add(slow, to: key)
        _ = audience.add(quick, to: key)
        expect(audience.show([key: Self.board(key, 1)]).isEmpty)
        expect(audience.show([key: Self.board(key, 2)]).count == 1)
        #expect(audience.beat().count == 1)
        withExtendedLifetime((slowStream, quickStream)) {}
    }

    @Test func `an event is read once for each group of apps, and streams of revoked keys are ended`() throws {
        var audience = LiveAudience(maximum: 2, maximumPerKey: 2)
        let bound = LiveSubject(key.key, within: .only([try #require(BundleID(rawValue: "com.example.A"))]))
        let (all, allStream) = Self.member()
        let (some, someStream) = Self.member()
        _ = audience.add(all, to: key)
        _ = audience.add(some, to: bound)
        _ = audience.turn()
        audience.mark([key, bound, other])
        expect(audience.turn().marked == [key, bound])
        expect(audience.show([key: Self.board(key, 1)], gone: [bound]).count == 1)
        audience.remove(some.id, from: bound)
        audience.mark([key, bound, other])
        expect(audience.turn().marked == [key])
        withExtendedLifetime((allStream, someStream)) {}
    }

    @Test func `the number of readers is limited, and a closed audience accepts none`() {
        var audience = LiveAudience(maximum: 1, maximumPerKey: 1)
        let (first, firstStream) = Self.member()
        let (second, secondStream) = Self.member()
        let (third, thirdStream) = Self.member()
        expect(audience.add(first, to: key) == nil)
        expect(audience.add(second, to: other) == .full)
        audience.remove(first.id, from: key)
        audience.remove(first.id, from: key)
        #expect(audience.isEmpty)
        expect(audience.add(second, to: other) == nil)
        expect(audience.close().count == 1)
        audience.remove(second.id, from: other)
        expect(audience.add(third, to: key) == .full)
        withExtendedLifetime((firstStream, secondStream, thirdStream)) {}
    }

    @Test func `no key has more than its share of readers, and a reader that leaves frees a place`() {
        var audience = LiveAudience(maximum: 4, maximumPerKey: 2)
        let reader = UUID()
        let mine = (0..<3).map { _ in Self.member(reader: reader) }
        let (other, otherStream) = Self.member()
        expect(audience.add(mine[0].0, to: key) == nil)
        expect(audience.add(mine[1].0, to: self.other) == nil)
        expect(audience.add(mine[2].0, to: key) == .keyHasAll)
        expect(audience.add(other, to: key) == nil)
        audience.remove(mine[0].0.id, from: key)
        audience.remove(mine[0].0.id, from: key)
        expect(audience.add(mine[2].0, to: key) == nil)
        expect(audience.add(mine[0].0, to: key) == .keyHasAll)
        withExtendedLifetime((mine, otherStream)) {}
    }

    @Test func `only events with readers are read, once for each change`() {
        var audience = LiveAudience(maximum: 2, maximumPerKey: 2)
        let (member, stream) = Self.member()
        _ = audience.add(member, to: key)
        expect(audience.turn().marked == [key])
        audience.mark([other])
        expect(audience.turn().marked.isEmpty)
        audience.mark([key, other])
        let turn = audience.turn()
        #expect(turn.marked == [key])
        #expect(turn.watched == [key])
        withExtendedLifetime(stream) {}
    }
}
