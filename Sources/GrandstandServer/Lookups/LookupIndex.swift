internal import FoundationEssentials
internal import Grandstand

/// The index for the lists that apps read. It has the events of one app and environment that can be followed, in the
/// order of their start: all events, and those of each topic.
struct LookupIndex: Sendable {
    /// Places in order, and a version that changes with each change of these events.
    private struct Line {
        var places: [Place] = []
        var version = 0
    }

    /// The records of this app's audiences, in the order of their declaration.
    private var records: [EventKey: [LookupRecord]] = [:]
    private var all = Line()
    private var byTopic: [Topic: Line] = [:]
    /// The number of changes so far.
    private var changes = 0

    init() {}

    /// An index of many events, each with its records.
    init(_ events: [EventKey: [LookupRecord]]) {
        for (key, found) in events {
            let records = Self.followable(found)
            guard let first = records.first, let listing = first.listing else { continue }
            self.records[key] = records
            let place = Place(startsAt: first.startsAt, key: key)
            all.places.append(place)
            for topic in listing.topics { byTopic[topic, default: Line()].places.append(place) }
        }
        changes = 1
        all = Line(places: all.places.sorted(), version: changes)
        byTopic = byTopic.mapValues { Line(places: $0.places.sorted(), version: changes) }
    }

    var isEmpty: Bool { records.isEmpty }

    /// A number that changes with each change of the list of events of this topic. If `topic` is `nil`, the number
    /// belongs to the list of all events.
    func version(of topic: Topic?) -> Int {
        guard let topic else { return all.version }
        return byTopic[topic]?.version ?? 0
    }

    // MARK: Changing

    /// Replaces the records of an event. Without records, the event is removed.
    mutating func put(_ key: EventKey, _ found: [LookupRecord]) {
        let new = Self.followable(found)
        let old = records[key] ?? []
        guard new != old else { return }
        records[key] = new.isEmpty ? nil : new
        changes += 1
        let oldPlace = old.first.map { Place(startsAt: $0.startsAt, key: key) }
        let newPlace = new.first.map { Place(startsAt: $0.startsAt, key: key) }
        Self.move(in: &all, from: oldPlace, to: newPlace, changes)
        let oldTopics = Set(old.first?.listing?.topics ?? [])
        let newTopics = Set(new.first?.listing?.topics ?? [])
        for topic in oldTopics.union(newTopics) {
            var line = byTopic.removeValue(forKey: topic) ?? Line()
            Self.move(
                in: &line, from: oldTopics.contains(topic) ? oldPlace : nil,
                to: newTopics.contains(topic) ? newPlace : nil, changes)
            // A topic that has no events any longer has version 0 again, as before its first event. This is correct,
            // because its list is empty, as it was then.
            if !line.places.isEmpty { byTopic[topic] = line }
        }
    }

    private static func move(in line: inout Line, from old: Place?, to new: Place?, _ version: Int) {
        line.version = version
        guard old != new else { return }
        if let old {
            let index = line.places.partitioningIndex { $0 >= old }
            if index < line.places.count, line.places[index] == old { line.places.remove(at: index) }
        }
        if let new { line.places.insert(new, at: line.places.partitioningIndex { $0 >= new }) }
    }

    /// The records of an event, as lists need them; empty if no audience can follow the event. Records that are over
    /// are included, because a list must choose the same audience as a lookup.
    private static func followable(_ records: [LookupRecord]) -> [LookupRecord] {
        records.contains { $0.listing != nil && !$0.isOver } ? records : []
    }

    // MARK: Reading

    /// The most places that are examined for one part.
    private static let reach = 2_000

    /// One part of a list.
    struct Part: Sendable {
        var items: [(key: EventKey, record: LookupRecord)]
        /// The place after which the next part begins; `nil`: there is no more.
        var next: Place?
        /// When the answer may change because of the time alone.
        var changesAt: Date?
    }

    /// The events that match `query` at `now`.
    func part(_ query: LookupListQuery, now: Date) -> Part {
        let line = query.topic.map { byTopic[$0] ?? Line() } ?? all
        let places = line.places
        var index = 0
        if let from = query.from { index = places.partitioningIndex { $0.startsAt >= from.timeIntervalSince1970 } }
        if let after = query.after { index = max(index, places.partitioningIndex { $0 > after }) }
        let isBounded = query.from != nil || query.to != nil
        let end = query.to?.timeIntervalSince1970 ?? .infinity
        let first = places.partitioningIndex { $0.startsAt > now.timeIntervalSince1970 }
        let changesAt = first < places.count ? places[first].startsAt : .infinity
        var part = Part(items: [], changesAt: changesAt.isFinite ? Date(timeIntervalSince1970: changesAt) : nil)
        var last: Place?
        let stop = index + Self.reach
        while index < places.count {
            let place = places[index]
            // Many events were examined, but few matched. The next part continues here, so that one request does not
            // delay others for long.
            if index == stop {
                part.next = places[index - 1]
                break
            }
            index += 1
            if isBounded, place.startsAt >= end { break }
            guard let record = record(place.key, query, now) else { continue }
            if part.items.count == query.limit {
                part.next = last
                break
            }
            part.items.append((place.key, record))
            last = place
        }
        return part
    }

    private func record(_ key: EventKey, _ query: LookupListQuery, _ now: Date) -> LookupRecord? {
        guard let record = records[key]?.first(of: query.variant), !record.isOver else { return nil }
        guard let wanted = query.state else { return record }
        let isLive = record.state(now: now) == .live
        return switch wanted {
        case .live: isLive ? record : nil
        case .scheduled, .unknown: isLive ? nil : record
        }
    }
}

extension Array {
    /// The first index for which `isSecond` is true. All elements for which it is false must come first.
    fileprivate func partitioningIndex(_ isSecond: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if isSecond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
