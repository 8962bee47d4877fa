internal import Testing

@testable internal import APNsSimulator

struct RingTests {
    @Test func `a ring keeps the newest elements, the oldest first, and returns the removed one`() {
        var ring = Ring<Int>(capacity: 3)
        let dropped = (1...5).map { ring.append($0) }
        #expect(dropped == [nil, nil, nil, 1, 2])
        #expect(ring.elements == [3, 4, 5])
        var none = Ring<Int>(capacity: 0)
        #expect(none.append(1) == 1)
        #expect(none.elements.isEmpty)
    }
}
