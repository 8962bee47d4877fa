internal import NIOCore

/// The deadlines of many slots, with fast access to the earliest one. This type is a binary heap that knows the
/// position of each slot, so that the deadline of an answered request can be removed. Otherwise 60,000 requests a
/// second, each with a deadline of 30 s, would leave 1.8 million useless entries.
struct DeadlineHeap {
    private struct Entry {
        var deadline: NIODeadline
        var slot: Int
    }

    private static let absent = -1

    private var entries: [Entry] = []
    /// The index in `entries`, by slot.
    private var indices: [Int] = []

    var count: Int { entries.count }
    var nearest: NIODeadline? { entries.first?.deadline }

    /// Sets the deadline of a slot. It replaces the slot's previous deadline, if there is one.
    mutating func insert(_ slot: Int, deadline: NIODeadline) {
        remove(slot)
        while indices.count <= slot { indices.append(Self.absent) }
        entries.append(Entry(deadline: deadline, slot: slot))
        indices[slot] = entries.count - 1
        rise(from: entries.count - 1)
    }

    /// Removes the deadline of a slot, if it has one.
    mutating func remove(_ slot: Int) {
        guard slot < indices.count, indices[slot] != Self.absent else { return }
        let index = indices[slot]
        indices[slot] = Self.absent
        let last = entries.removeLast()
        guard index < entries.count else { return }
        entries[index] = last
        indices[last.slot] = index
        rise(from: index)
        sink(from: index)
    }

    /// Removes and returns one slot whose deadline is not after `now`.
    mutating func popExpired(now: NIODeadline) -> Int? {
        guard let first = entries.first, first.deadline <= now else { return nil }
        remove(first.slot)
        return first.slot
    }

    private mutating func rise(from start: Int) {
        let entry = entries[start]
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard entry.deadline < entries[parent].deadline else { break }
            put(entries[parent], at: index)
            index = parent
        }
        put(entry, at: index)
    }

    private mutating func sink(from start: Int) {
        let entry = entries[start]
        var index = start
        while true {
            var child = 2 * index + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1].deadline < entries[child].deadline { child += 1 }
            guard entries[child].deadline < entry.deadline else { break }
            put(entries[child], at: index)
            index = child
        }
        put(entry, at: index)
    }

    private mutating func put(_ entry: Entry, at index: Int) {
        entries[index] = entry
        indices[entry.slot] = index
    }
}
