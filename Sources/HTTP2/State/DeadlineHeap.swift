internal import NIOCore

/// The nearest of many deadlines, one per slot: a binary heap that knows where each slot stands, so that an answered
/// request takes its deadline with it. (Left to expire instead, 60,000 requests a second with 30 s each would hold
/// 1.8 million dead entries.)
struct DeadlineHeap {
    private struct Entry {
        var deadline: NIODeadline
        var slot: Int
    }

    private static let absent = -1

    private var entries: [Entry] = []
    /// By slot: the index in `entries`.
    private var places: [Int] = []

    var count: Int { entries.count }
    var nearest: NIODeadline? { entries.first?.deadline }

    /// A slot has one deadline; a second insertion replaces the first.
    mutating func insert(_ slot: Int, deadline: NIODeadline) {
        remove(slot)
        while places.count <= slot { places.append(Self.absent) }
        entries.append(Entry(deadline: deadline, slot: slot))
        places[slot] = entries.count - 1
        rise(from: entries.count - 1)
    }

    /// A slot without a deadline changes nothing.
    mutating func remove(_ slot: Int) {
        guard slot < places.count, places[slot] != Self.absent else { return }
        let place = places[slot]
        places[slot] = Self.absent
        let last = entries.removeLast()
        guard place < entries.count else { return }
        entries[place] = last
        places[last.slot] = place
        rise(from: place)
        sink(from: place)
    }

    /// Takes out one slot whose deadline is `now` or before.
    mutating func popExpired(now: NIODeadline) -> Int? {
        guard let first = entries.first, first.deadline <= now else { return nil }
        remove(first.slot)
        return first.slot
    }

    private mutating func rise(from start: Int) {
        let entry = entries[start]
        var place = start
        while place > 0 {
            let parent = (place - 1) / 2
            guard entry.deadline < entries[parent].deadline else { break }
            put(entries[parent], at: place)
            place = parent
        }
        put(entry, at: place)
    }

    private mutating func sink(from start: Int) {
        let entry = entries[start]
        var place = start
        while true {
            var child = 2 * place + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1].deadline < entries[child].deadline { child += 1 }
            guard entries[child].deadline < entry.deadline else { break }
            put(entries[child], at: place)
            place = child
        }
        put(entry, at: place)
    }

    private mutating func put(_ entry: Entry, at place: Int) {
        entries[place] = entry
        places[entry.slot] = place
    }
}
