internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import PortFakes
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

/// When samples are taken, with a clock that the test controls.
struct QuotaSamplerTests {
    /// The samples, and which replica took each.
    private final class Book: Sendable {
        private let times = Mutex<[Date]>([])
        var all: [Date] { times.withLock(\.self) }
        func has(_ at: Date) -> Bool { times.withLock { $0.contains(at) } }
        func add(_ at: Date) { times.withLock { $0.append(at) } }
    }

    private static let noon = Date(timeIntervalSince1970: 1_795_262_400)

    private static func sampler(_ book: Book, _ clock: Clock, fails: Bool = false) -> QuotaSampler {
        var history = FakeQuotaHistory()
        history.lacking = { !book.has($0) }
        history.take = { _, at in
            if fails { throw Unasked() }
            book.add(at)
            return true
        }
        var channels = FakeChannels()
        channels.count = { [] }
        return QuotaSampler(
            channels: channels, history: history, settings: .init(tenure: ChannelTenure()), now: clock.read,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test func `a sample is taken every five minutes by one replica`() async throws {
        let book = Book()
        let now = Clock(Self.noon)
        let (one, other) = (Self.sampler(book, now), Self.sampler(book, now))
        for seconds in stride(from: 0.0, to: 900, by: 5) {
            now.set(Self.noon.addingTimeInterval(seconds + 1))
            try await one.sample()
            try await other.sample()
        }
        #expect(book.all == [0, 300, 600].map { Self.noon.addingTimeInterval($0) })
    }

    @Test func `if no replica ran, the sample is missing`() async throws {
        let book = Book()
        let now = Clock(Self.noon)
        let sampler = Self.sampler(book, now)
        #expect(try await sampler.sample() == Self.noon.addingTimeInterval(300))
        // No replica ran at five past and ten past. At a quarter past one is too late.
        now.set(Self.noon.addingTimeInterval(900 + 61))
        #expect(try await sampler.sample() == Self.noon.addingTimeInterval(1_200))
        now.set(Self.noon.addingTimeInterval(1_200))
        try await sampler.sample()
        #expect(book.all == [0, 1_200].map { Self.noon.addingTimeInterval($0) })
    }

    @Test func `a failed sample is repeated as long as its time has not passed`() async throws {
        let book = Book()
        let now = Clock(Self.noon)
        await #expect(throws: Unasked.self) { try await Self.sampler(book, now, fails: true).sample() }
        #expect(book.all.isEmpty)
        now.set(Self.noon.addingTimeInterval(5))
        try await Self.sampler(book, now).sample()
        #expect(book.all == [Self.noon])
    }
}

/// A clock that the test sets.
private final class Clock: Sendable {
    private let date: Mutex<Date>

    init(_ date: Date) { self.date = Mutex(date) }

    func set(_ other: Date) { date.withLock { $0 = other } }
    var read: @Sendable () -> Date { { self.date.withLock(\.self) } }
}
