internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandService
internal import Logging
internal import PortFakes
internal import Synchronization
internal import Testing

/// The replica that reports the database's gauges. A replica without current values reports none.
struct GaugeWatchTests {
    private final class World: GaugeStore {
        struct State {
            var now = Date(timeIntervalSince1970: 1_800_000_000)
            var isLed = true
            var fails = false
            var resigned = 0
        }

        let state = Mutex(State())

        func lead(_ replica: UUID, for seconds: TimeInterval) async throws -> Date? {
            try state.withLock { state in
                if state.fails { throw Problem(.storeUnavailable, "gone") }
                return state.isLed ? state.now.addingTimeInterval(seconds) : nil
            }
        }

        func resign(_ replica: UUID) async throws { state.withLock { $0.resigned += 1 } }

        func backlog(now: Date) async throws -> Backlog {
            Backlog(deliveries: [:], oldestWebhookMessage: nil, reconciledAt: [:])
        }
    }

    private let world = World()
    private let watch: GaugeWatch

    init() {
        var channels = FakeChannels()
        channels.count = { [] }
        watch = GaugeWatch(
            channels: channels, store: world, settings: .init(tenure: ChannelTenure()),
            now: { [world] in world.state.withLock { $0.now } }, logger: Logger(label: "test"))
    }

    @Test func `nothing is reported before the first reading, or by a replica without the lease`() async {
        #expect(watch.current == nil)
        try? await watch.look()
        #expect(watch.current != nil)
        world.state.withLock { $0.isLed = false }
        try? await watch.look()
        #expect(watch.current == nil)
    }

    @Test func `if the database fails the gauges disappear`() async {
        try? await watch.look()
        world.state.withLock { $0.fails = true }
        try? await watch.look()
        #expect(watch.current == nil)
        world.state.withLock { $0.fails = false }
        try? await watch.look()
        #expect(watch.current != nil)
    }

    @Test func `when the lease ends unrenewed the gauges disappear`() async {
        try? await watch.look()
        world.state.withLock { $0.now += 14 }
        #expect(watch.current != nil)
        world.state.withLock { $0.now += 1 }
        #expect(watch.current == nil)
    }

    @Test func `a replica that stops releases the lease`() async {
        let running = Task { await watch.run() }
        while watch.current == nil { await Task.yield() }
        running.cancel()
        await running.value
        #expect(world.state.withLock(\.resigned) == 1)
        #expect(watch.current == nil)
    }
}
