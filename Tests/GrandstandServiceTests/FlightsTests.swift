internal import Grandstand
internal import Testing

@testable internal import GrandstandService

@Suite(.timeLimit(.minutes(1)))
struct FlightsTests {
    private static func landing(_ id: Int) -> Settlement {
        Settlement(delivery: id, lane: id, verdict: .accepted(APNsReceipt(requestID: nil)), at: Sample.now)
    }

    @Test func `what landed is taken once, all that is there`() async {
        let flights = Flights()
        flights.begin((1...3).map { Sample.delivery($0) })
        #expect(flights.count == 3)
        flights.land(Self.landing(2))
        flights.land(Self.landing(1))
        #expect(flights.count == 1)
        #expect(await flights.landed()?.settlements.map(\.delivery) == [2, 1])
        flights.land(Self.landing(3))
        #expect(await flights.landed()?.settlements.map(\.delivery) == [3])
        flights.close()
        #expect(await flights.landed() == nil)
    }

    @Test func `verdicts are settled in batches in which apps take turns`() async throws {
        let flights = Flights()
        let large = (1...(2 * Flights.batch)).map { Sample.delivery($0) }
        let small = (10_001...10_002).map { Sample.delivery($0, of: Sample.name("com.example.Small")) }
        flights.begin(large + small)
        for delivery in large + small { flights.land(Self.landing(delivery.id)) }
        let first = try #require(await flights.landed()).settlements.map(\.delivery)
        #expect(first.count == Flights.batch)
        #expect(first.prefix(4) == [1, 10_001, 2, 10_002])
        let second = try #require(await flights.landed()).settlements.map(\.delivery)
        let third = try #require(await flights.landed()).settlements.map(\.delivery)
        #expect((first + second + third).filter { $0 <= 2 * Flights.batch } == Array(1...(2 * Flights.batch)))
        flights.close()
        #expect(await flights.landed() == nil)
    }

    @Test func `what never began does not land, nor does anything twice`() async {
        let flights = Flights()
        flights.begin([Sample.delivery(1)])
        flights.land(Self.landing(7))
        flights.land(Self.landing(1))
        flights.land(Self.landing(1))
        flights.close()
        #expect(await flights.landed()?.settlements.map(\.delivery) == [1])
        #expect(await flights.landed() == nil)
    }

    @Test func `what is given up is handed back, and its late verdict is dropped`() async {
        let flights = Flights()
        flights.begin((1...3).map { Sample.delivery($0) })
        flights.land(Self.landing(1))
        flights.abandon(at: Sample.now)
        #expect(flights.count == 0)
        flights.land(Self.landing(2))
        let batch = await flights.landed()
        #expect(batch?.settlements.map(\.delivery) == [1])
        #expect(batch?.abandoned.map(\.id).sorted() == [2, 3])
        flights.close()
        #expect(await flights.landed() == nil)
    }

    @Test func `a verdict on a locked lane comes again, and its lane is held until it is recorded`() async throws {
        let flights = Flights()
        flights.begin((1...3).map { Sample.delivery($0) })
        flights.land(Self.landing(1))
        flights.land(Self.landing(2))
        let batch = try #require(await flights.landed())
        #expect(flights.settled(batch, except: [1]))
        #expect(flights.lastingLanes().isEmpty)
        #expect(flights.held == [1, 3])
        let again = try #require(await flights.landed())
        #expect(again.settlements.map(\.delivery) == [1])
        #expect(flights.lastingLanes() == [1, 3])
        #expect(!flights.settled(again, except: [1]))
        // Another's verdict does not wait for it.
        flights.land(Self.landing(3))
        let both = try #require(await flights.landed())
        #expect(both.settlements.map(\.delivery) == [1, 3])
        #expect(flights.settled(both, except: []))
        #expect(flights.held.isEmpty)
    }

    @Test func `what is given up on a locked lane comes again`() async throws {
        let flights = Flights()
        flights.begin((1...2).map { Sample.delivery($0) })
        flights.abandon(at: Sample.now)
        let batch = try #require(await flights.landed())
        #expect(flights.settled(batch, except: [2]))
        #expect(await flights.landed()?.abandoned.map(\.id) == [2])
    }

    @Test func `a verdict that lands while a caller waits wakes it`() async {
        for _ in 0..<200 {
            let flights = Flights()
            flights.begin([Sample.delivery(1)])
            async let batch = flights.landed()
            flights.land(Self.landing(1))
            #expect(await batch?.settlements.count == 1)
        }
    }

    @Test func `closing ends the wait, but not before what landed is taken`() async {
        let flights = Flights()
        async let nothing = flights.landed()
        flights.close()
        #expect(await nothing == nil)

        let late = Flights()
        late.begin([Sample.delivery(1)])
        late.land(Self.landing(1))
        late.close()
        #expect(late.isClosed)
        #expect(await late.landed()?.settlements.count == 1)
        #expect(await late.landed() == nil)
    }
}
