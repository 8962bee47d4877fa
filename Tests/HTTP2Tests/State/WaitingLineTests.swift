import Testing

@testable import HTTP2

struct WaitingLineTests {
    private func drain(_ line: inout WaitingLine) -> [Int] {
        var order: [Int] = []
        while let first = line.first {
            order.append(first)
            line.remove(first)
        }
        return order
    }

    @Test func `the first in the queue is the first out`() {
        var line = WaitingLine()
        for slot in [3, 0, 2] { line.append(slot) }
        #expect(line.count == 3)
        #expect(drain(&line) == [3, 0, 2])
        #expect(line.count == 0)
    }

    @Test(arguments: [0, 1, 2])
    func `removing any element keeps the others in order`(leaver: Int) {
        var line = WaitingLine()
        for slot in 0..<3 { line.append(slot) }
        line.remove(leaver)
        line.remove(leaver)
        line.append(7)
        #expect(drain(&line) == [0, 1, 2].filter { $0 != leaver } + [7])
    }

    @Test func `a removed element may be added at the end again`() {
        var line = WaitingLine()
        line.append(0)
        line.append(1)
        line.remove(0)
        line.append(0)
        line.append(0)
        #expect(drain(&line) == [1, 0])
    }
}
