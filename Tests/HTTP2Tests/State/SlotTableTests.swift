import Testing

@testable import HTTP2

struct SlotTableTests {
    @Test func `slots are reused`() {
        var table = SlotTable<String>()
        let first = table.insert("a")
        let second = table.insert("b")
        #expect(table.remove(first) == "a")
        #expect(table.insert("c") == first)
        #expect(table[first] == "c")
        #expect(table[second] == "b")
        #expect(table.count == 2)
        #expect(table.capacity == 2)
    }

    @Test func `a free slot is empty and stays free`() {
        var table = SlotTable<Int>()
        let slot = table.insert(1)
        #expect(table.remove(slot) == 1)
        #expect(table.remove(slot) == nil)
        #expect(table[slot] == nil)
        #expect(table[99] == nil)
        #expect(table.count == 0)
        #expect(table.insert(2) == slot)
        #expect(table.insert(3) != slot)
    }
}
