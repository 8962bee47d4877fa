/// Stores elements under small numbers, which are reused.
///
/// nghttp2 gets these numbers where it takes a pointer, so that C never has a Swift reference: nothing is retained, and
/// nothing can dangle. See `Session`.
struct SlotTable<Element> {
    private var elements: [Element?] = []
    private var free: [Int] = []

    var count: Int { elements.count - free.count }
    /// Every slot in use is below this number.
    var capacity: Int { elements.count }

    mutating func insert(_ element: Element) -> Int {
        if let slot = free.popLast() {
            elements[slot] = element
            return slot
        }
        elements.append(element)
        return elements.count - 1
    }

    /// `nil` for a slot that is free or was never used.
    subscript(slot: Int) -> Element? {
        elements.indices.contains(slot) ? elements[slot] : nil
    }

    /// Frees the slot. A free slot stays free.
    @discardableResult
    mutating func remove(_ slot: Int) -> Element? {
        guard elements.indices.contains(slot), let element = elements[slot] else { return nil }
        elements[slot] = nil
        free.append(slot)
        return element
    }

    /// All elements with their slots.
    var occupied: [(slot: Int, element: Element)] {
        elements.enumerated().compactMap { slot, element in element.map { (slot, $0) } }
    }
}
