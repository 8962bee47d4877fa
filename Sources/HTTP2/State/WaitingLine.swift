/// A first-in, first-out queue from which any element can be removed in constant time: a linked list over slots.
struct WaitingLine {
    private static let none = -1
    /// Marks a slot that is not in the queue, so that removing it twice is harmless.
    private static let absent = -2

    private var next: [Int] = []
    private var previous: [Int] = []
    private var tail = WaitingLine.none
    /// The first slot in the queue.
    private var head = WaitingLine.none
    private(set) var count = 0

    var first: Int? { head == Self.none ? nil : head }

    /// Adds the slot at the end. It must not be in the queue already.
    mutating func append(_ slot: Int) {
        while next.count <= slot {
            next.append(Self.absent)
            previous.append(Self.absent)
        }
        guard next[slot] == Self.absent else { return }
        next[slot] = Self.none
        previous[slot] = tail
        if tail == Self.none { head = slot } else { next[tail] = slot }
        tail = slot
        count += 1
    }

    /// Removes the slot, if it is in the queue.
    mutating func remove(_ slot: Int) {
        guard slot < next.count, next[slot] != Self.absent else { return }
        let (before, after) = (previous[slot], next[slot])
        if before == Self.none { head = after } else { next[before] = after }
        if after == Self.none { tail = before } else { previous[after] = before }
        next[slot] = Self.absent
        previous[slot] = Self.absent
        count -= 1
    }
}
