internal import Testing

@testable internal import Grandstand

struct ConnectionPlacesTests {
    @Test func `the oldest unknown client is disconnected for the newest`() {
        var places = ConnectionPlaces<Int, Int>(maximum: 10)
        for name in 1...9 { #expect(places.open(name, name) == nil) }
        for name in 10...1_000 { #expect(places.open(name, name) == name - 9) }
        #expect(places.strangerCount == 9)
    }

    @Test func `a known client stays, and one place is always free for the next`() {
        var places = ConnectionPlaces<Int, Int>(maximum: 10)
        for name in 1...9 { #expect(places.open(name, name) == nil) }
        places.trust(1)
        for name in 10...500 {
            #expect(places.open(name, name) == name - 8)
            #expect(places.strangerCount + places.knownCount < 10)
        }
        #expect(places.knownCount == 1)
        places.close(1)
        #expect(places.knownCount == 0)
    }

    @Test func `a client that has left leaves nothing behind, even if its number comes again`() {
        var places = ConnectionPlaces<Int, Int>(maximum: 10)
        for round in 0..<1_000 {
            #expect(places.open(round % 3, round) == nil)
            places.close(round % 3)
        }
        for name in 1...9 { #expect(places.open(name, name) == nil) }
        // Client 1 leaves and comes again, so it is the newest now.
        places.close(1)
        #expect(places.open(1, 1) == nil)
        #expect(places.open(10, 10) == 2)
        // Client 2 was already disconnected for client 10, so `know` has no effect.
        places.trust(2)
        #expect(places.knownCount == 0)
    }

    @Test func `beyond the limit of unread bytes the clients with the most are disconnected`() {
        var places = ConnectionPlaces<String, String>(maximum: 100, mostUnread: 100)
        for name in ["a", "b", "c", "d"] { #expect(places.open(name, name) == nil) }
        // A known client is no exception.
        places.trust("a")
        #expect(places.setUnread(40, for: "a") == [])
        #expect(places.setUnread(60, for: "b") == [])
        #expect(places.setUnread(10, for: "c") == ["b"])
        #expect(places.setUnread(101, for: "d") == ["d"])
        // The connection is about to end, so what it holds no longer counts.
        #expect(places.setUnread(90, for: "d") == [])
        #expect(places.unreadBytes == 50)
    }
}
