internal import NIOCore

/// The newest elements, the oldest first. There are at most `capacity`.
struct Recent<Element: Sendable>: Sendable {
    let capacity: Int
    private(set) var elements = CircularBuffer<Element>()

    /// - Returns: the element that was removed for the new one; the new one itself if the capacity is 0.
    mutating func append(_ element: Element) -> Element? {
        elements.append(element)
        return elements.count > capacity ? elements.removeFirst() : nil
    }

    mutating func removeOldest() -> Element? { elements.popFirst() }

    mutating func removeAll() { elements.removeAll() }
}
