internal import Testing

@testable internal import APNsSimulator

@Suite("Ring")
struct RingTests {
    @Test("Keeps the newest, oldest first, and hands back what it drops")
    func newest() {
        var ring = Ring<Int>(capacity: 3)
        let dropped = (1...5).map { ring.append($0) }
        #expect(dropped == [nil, nil, nil, 1, 2])
        #expect(ring.elements == [3, 4, 5])
        ring.removeAll()
        #expect(ring.append(6) == nil)
        #expect(ring.elements == [6])
    }

    @Test("Of no capacity keeps nothing")
    func none() {
        var ring = Ring<Int>(capacity: 0)
        #expect(ring.append(1) == 1)
        #expect(ring.elements.isEmpty)
    }
}
