internal import Testing

@testable internal import GrandstandServer

struct ConnectionPlacesTests {
    @Test func `the oldest unknown client is disconnected for the newest`() {
        var places = ConnectionPlaces<Int>(maximum: 10)
        for name in 1...9 { #expect(places.open(name) == nil) }
        for name in 10...1_000 { #expect(places.open(name) == name - 9) }
        #expect(places.strangerCount == 9)
    }

    @Test func `a known client stays, and one place is always free for the next`() {
        var places = ConnectionPlaces<Int>(maximum: 10)
        for name in 1...9 { #expect(places.open(name) == nil) }
        places.know(1)
        for name in 10...500 {
            #expect(places.open(name) == name - 8)
            #expect(places.strangerCount + places.known.count < 10)
        }
        #expect(places.known == [1])
        places.close(1)
        #expect(places.known.isEmpty)
    }

    @Test func `a client that has left leaves nothing behind, even if its number comes again`() {
        var places = ConnectionPlaces<Int>(maximum: 10)
        for round in 0..<1_000 {
            #expect(places.open(round % 3) == nil)
            places.close(round % 3)
        }
        for name in 1...9 { #expect(places.open(name) == nil) }
        // Client 1 leaves and comes again, so it is the newest now.
        places.close(1)
        #expect(places.open(1) == nil)
        #expect(places.open(10) == 2)
        // Client 2 was already disconnected for client 10, so `know` has no effect.
        places.know(2)
        #expect(places.known.isEmpty)
    }
}
