/// The newest elements of a sequence, the oldest first. There are at most `capacity`.
struct Ring<Element> {
    let capacity: Int
    private var storage: [Element?] = []
    /// The index of the oldest element; earlier elements are `nil`.
    private var start = 0

    /// - Parameter capacity: 0 keeps nothing.
    init(capacity: Int) { self.capacity = max(0, capacity) }

    var count: Int { storage.count - start }

    /// - Returns: the element that was removed for the new one; the new one itself if the capacity is 0.
    mutating func append(_ element: Element) -> Element? {
        guard capacity > 0 else { return element }
        let oldest = count == capacity ? removeOldest() : nil
        storage.append(element)
        return oldest
    }

    mutating func removeOldest() -> Element? {
        guard count > 0 else { return nil }
        let oldest = storage[start]
        storage[start] = nil
        start += 1
        // The elements are moved only when more than half of the storage is unused, so each element is moved about once
        // on average.
        if start > 64, start * 2 > storage.count {
            storage.removeFirst(start)
            start = 0
        }
        return oldest
    }

    mutating func removeAll() {
        storage.removeAll()
        start = 0
    }

    var elements: [Element] { storage[start...].compactMap { $0 } }
}

extension Ring: Sendable where Element: Sendable {}
