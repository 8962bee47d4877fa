/// Elements under small dense numbers that are used again.
///
/// nghttp2 is handed these numbers where it takes a pointer of ours, so C never holds a Swift reference: nothing is
/// retained for it, nothing can dangle. See `Session`.
struct SlotTable<Element> {
    private var elements: [Element?] = []
    private var free: [Int] = []

    /// Elements held.
    var count: Int { elements.count - free.count }
    /// Every slot in use is below this.
    var capacity: Int { elements.count }

    mutating func insert(_ element: Element) -> Int {
        if let slot = free.popLast() {
            elements[slot] = element
            return slot
        }
        elements.append(element)
        return elements.count - 1
    }

    /// `nil` for a slot that is free or was never given out.
    subscript(slot: Int) -> Element? {
        elements.indices.contains(slot) ? elements[slot] : nil
    }

    /// Frees the slot; a free one stays free.
    @discardableResult
    mutating func remove(_ slot: Int) -> Element? {
        guard elements.indices.contains(slot), let element = elements[slot] else { return nil }
        elements[slot] = nil
        free.append(slot)
        return element
    }

    /// The elements held, by slot.
    var occupied: [(slot: Int, element: Element)] {
        elements.enumerated().compactMap { slot, element in element.map { (slot, $0) } }
    }
}
