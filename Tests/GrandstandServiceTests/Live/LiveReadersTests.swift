internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandService

@Suite(.timeLimit(.minutes(20)))
struct LiveReadersTests {
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
    ) -> (LiveReaders.Member, AsyncStream<LiveUpdate>) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LiveUpdate.self, bufferingPolicy: .bufferingOldest(buffer))
        return (LiveReaders.Member(id: UUID(), reader: reader, seen: seen, continuation), stream)
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
        var readers = LiveReaders(maximum: 3, maximumPerKey: 3)
        let (first, firstStream) = Self.member()
        let (second, secondStream) = Self.member()
        expect(readers.add(first, to: key) == nil)
        _ = readers.show([key: Self.board(key, 1)])
        expect(readers.add(second, to: key) == nil)
        _ = readers.show([key: Self.board(key, 2)])
        _ = readers.show([key: Self.board(key, 2)])
        for continuation in readers.close() { continuation.finish() }
        let firstHeard = await firstStream.reduce(into: []) { $0.append($1) }
        let secondHeard = await secondStream.reduce(into: []) { $0.append($1) }
        let (one, two) = (Self.board(key, 1), Self.board(key, 2))
        #expect(
            firstHeard == [
                LiveUpdate(.snapshot(one), tag: one.tag), LiveUpdate(.broadcast(two.broadcasts[0]), tag: two.tag),
            ])
        #expect(secondHeard == [LiveUpdate(.snapshot(two), tag: two.tag)])
    }

    @Test func `only a reader that is too slow is ended`() {
        var readers = LiveReaders(maximum: 2, maximumPerKey: 2)
        let (slow, slowStream) = Self.member(buffer: 1)
        let (quick, quickStream) = Self.member()
        _ = readers.add(slow, to: key)
        _ = readers.add(quick, to: key)
        expect(readers.show([key: Self.board(key, 1)]).isEmpty)
        expect(readers.show([key: Self.board(key, 2)]).count == 1)
        #expect(readers.beat().count == 1)
        withExtendedLifetime((slowStream, quickStream)) {}
    }

    @Test func `an event is read once for each group of apps, and streams of revoked keys are ended`() throws {
        var readers = LiveReaders(maximum: 2, maximumPerKey: 2)
        let bound = LiveSubject(key.key, within: .only([try #require(BundleID(rawValue: "com.example.A"))]))
        let (all, allStream) = Self.member()
        let (some, someStream) = Self.member()
        _ = readers.add(all, to: key)
        _ = readers.add(some, to: bound)
        _ = readers.turn()
        readers.mark([key, bound, other])
        expect(readers.turn().marked == [key, bound])
        expect(readers.show([key: Self.board(key, 1)], gone: [bound]).count == 1)
        readers.remove(some.id, from: bound)
        readers.mark([key, bound, other])
        expect(readers.turn().marked == [key])
        withExtendedLifetime((allStream, someStream)) {}
    }

    @Test func `the number of readers is limited, and a closed readers accepts none`() {
        var readers = LiveReaders(maximum: 1, maximumPerKey: 1)
        let (first, firstStream) = Self.member()
        let (second, secondStream) = Self.member()
        let (third, thirdStream) = Self.member()
        expect(readers.add(first, to: key) == nil)
        expect(readers.add(second, to: other) == .full)
        readers.remove(first.id, from: key)
        readers.remove(first.id, from: key)
        #expect(readers.isEmpty)
        expect(readers.add(second, to: other) == nil)
        expect(readers.close().count == 1)
        readers.remove(second.id, from: other)
        expect(readers.add(third, to: key) == .full)
        withExtendedLifetime((firstStream, secondStream, thirdStream)) {}
    }

    @Test func `no API key has more than its share of readers, and a reader that leaves frees a place`() {
        var readers = LiveReaders(maximum: 4, maximumPerKey: 2)
        let reader = UUID()
        let mine = (0..<3).map { _ in Self.member(reader: reader) }
        let (other, otherStream) = Self.member()
        expect(readers.add(mine[0].0, to: key) == nil)
        expect(readers.add(mine[1].0, to: self.other) == nil)
        expect(readers.add(mine[2].0, to: key) == .keyHasAll)
        expect(readers.add(other, to: key) == nil)
        readers.remove(mine[0].0.id, from: key)
        readers.remove(mine[0].0.id, from: key)
        expect(readers.add(mine[2].0, to: key) == nil)
        expect(readers.add(mine[0].0, to: key) == .keyHasAll)
        withExtendedLifetime((mine, otherStream)) {}
    }
}
