import NIOCore
import Testing

@testable import HTTP2

struct DeadlineHeapTests {
    private func at(_ nanoseconds: Int) -> NIODeadline { .uptimeNanoseconds(UInt64(nanoseconds)) }

    @Test func `only expired deadlines are returned, the nearest first`() {
        var heap = DeadlineHeap()
        heap.insert(0, deadline: at(30))
        heap.insert(1, deadline: at(10))
        heap.insert(2, deadline: at(20))
        #expect(heap.nearest == at(10))
        #expect(heap.popExpired(now: at(9)) == nil)
        #expect(heap.popExpired(now: at(20)) == 1)
        #expect(heap.popExpired(now: at(20)) == 2)
        #expect(heap.popExpired(now: at(20)) == nil)
        #expect(heap.nearest == at(30))
    }

    @Test func `a slot has one deadline`() {
        var heap = DeadlineHeap()
        heap.insert(0, deadline: at(10))
        heap.insert(0, deadline: at(50))
        #expect(heap.count == 1)
        #expect(heap.popExpired(now: at(49)) == nil)
        #expect(heap.popExpired(now: at(50)) == 0)
    }

    /// Compares with a plain dictionary over many random operations.
    @Test(arguments: 0..<8)
    func `the heap agrees with a simple model`(seed: Int) {
        var random = SplitMix(state: UInt64(seed))
        var heap = DeadlineHeap()
        var model: [Int: NIODeadline] = [:]
        for _ in 0..<4_000 {
            let slot = Int.random(in: 0..<100, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                let deadline = at(Int.random(in: 0..<1_000, using: &random))
                heap.insert(slot, deadline: deadline)
                model[slot] = deadline
            case 2:
                heap.remove(slot)
                model[slot] = nil
            default:
                let now = at(Int.random(in: 0..<300, using: &random))
                if let popped = heap.popExpired(now: now) {
                    #expect(model[popped] == model.values.min())
                    #expect(model[popped].map { $0 <= now } == true)
                    model[popped] = nil
                } else {
                    #expect(model.values.allSatisfy { $0 > now })
                }
            }
            #expect(heap.count == model.count)
            #expect(heap.nearest == model.values.min())
        }
    }
}

/// Random numbers that are the same in every run.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
