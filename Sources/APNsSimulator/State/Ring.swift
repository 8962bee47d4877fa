/// The newest elements of a sequence, at most `capacity` of them, oldest first.
struct Ring<Element> {
    let capacity: Int
    private var storage: [Element] = []
    /// The oldest element, once `storage` is full.
    private var start = 0

    /// - Parameter capacity: 0 keeps nothing.
    init(capacity: Int) { self.capacity = max(0, capacity) }

    /// - Returns: the element that had to go for the new one; the new one itself when nothing is kept.
    mutating func append(_ element: Element) -> Element? {
        guard capacity > 0 else { return element }
        guard storage.count == capacity else {
            storage.append(element)
            return nil
        }
        let oldest = storage[start]
        storage[start] = element
        start = (start + 1) % capacity
        return oldest
    }

    mutating func removeAll() {
        storage.removeAll()
        start = 0
    }

    var elements: [Element] { Array(storage[start...]) + storage[..<start] }
}

extension Ring: Sendable where Element: Sendable {}
