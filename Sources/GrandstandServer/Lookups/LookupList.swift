internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// The filter of a list of an app's events.
struct LookupListQuery: Sendable {
    /// Only events with this topic.
    var topic: Topic?
    /// Only events that begin at this time or later. Events without a start are left out.
    var from: Date?
    /// Only events that begin before this time.
    var to: Date?
    var state: Contract.FollowableState?
    /// The variant of the audiences; `nil`: the audience without a variant or, if there is none, the first audience
    /// that is not over.
    var variant: Variant?
    /// 1 to 200.
    var limit: Int = 50
    /// The position of the previous page's last event.
    var after: PageCursor?
}

/// The events of one app and environment that can be followed, in the order of their start: all events, and those of
/// each topic. It is made from the dictionary of lookups and used for a second.
struct LookupList: Sendable {
    struct App: Sendable, Hashable {
        /// The lowercased bundle ID.
        let topic: String
        let environment: APNsEnvironment
    }

    /// An event, ordered by its start and key. Events without a start come last.
    struct Item: Sendable {
        let key: EventKey
        /// Microseconds since 1970.
        let number: Int
        /// All records of the event, also those that are over and those of other apps: a list must choose the same
        /// audience as a lookup.
        let records: [LookupRecord]

        /// - Returns: `nil` if no audience of the app can follow the event.
        init?(_ key: EventKey, _ records: [LookupRecord], of app: App) {
            guard records.contains(where: { $0.listing != nil && !$0.isOver && $0.isOf(app.topic, app.environment) })
            else { return nil }
            (self.key, self.records) = (key, records)
            number = records[0].startsAt.map(PageCursor.number) ?? PageCursor.last
        }

        func isAfter(_ number: Int, _ key: String) -> Bool { (self.number, self.key.rawValue) > (number, key) }
    }

    let app: App
    /// When the list is too old to be used.
    let end: ContinuousClock.Instant
    private let all: [Item]
    private let byTopic: [Topic: [Item]]

    init(of app: App, _ items: [Item], until end: ContinuousClock.Instant = .now) {
        (self.app, self.end) = (app, end)
        all = items.sorted { $1.isAfter($0.number, $0.key.rawValue) }
        byTopic = all.reduce(into: [:]) { byTopic, item in
            for topic in item.records[0].listing?.topics ?? [] { byTopic[topic, default: []].append(item) }
        }
    }

    /// The most events that are examined for one page.
    private static let reach = 2_000

    /// The events that match `query` at `now`.
    func page(_ query: LookupListQuery, now: Date) -> Contract.FollowablePage {
        let items = query.topic.map { byTopic[$0] ?? [] } ?? all
        var index = 0
        if let from = query.from.map(PageCursor.number) { index = items.partitioningIndex { $0.number >= from } }
        if let after = query.after {
            index = max(index, items.partitioningIndex { $0.isAfter(after.number, after.key) })
        }
        let isBounded = query.from != nil || query.to != nil
        let end = query.to.map(PageCursor.number) ?? PageCursor.last
        let stop = index + Self.reach
        var found: [Contract.Followable] = []
        // The place after which the next page begins, once it is known that there are further events.
        var next: Item?
        var last: Item?
        while index < items.count {
            let item = items[index]
            // Many events were examined, but few matched. The next page continues here, so that one request does not
            // delay others for long.
            if index == stop {
                next = items[index - 1]
                break
            }
            index += 1
            if isBounded, item.number >= end { break }
            guard let record = record(item, query, now) else { continue }
            if found.count == query.limit {
                next = last
                break
            }
            found.append(Contract.Followable(item.key, record, now: now))
            last = item
        }
        return Contract.FollowablePage(
            items: found, nextCursor: next.map { PageCursor.text($0.number, $0.key.rawValue) })
    }

    private func record(_ item: Item, _ query: LookupListQuery, _ now: Date) -> LookupRecord? {
        guard let index = item.records.index(of: query.variant, app.topic, app.environment) else { return nil }
        let record = item.records[index]
        guard !record.isOver else { return nil }
        guard let wanted = query.state else { return record }
        return (wanted == .live) == (record.state(now: now) == .live) ? record : nil
    }
}

extension Contract.Followable {
    fileprivate init(_ key: EventKey, _ record: LookupRecord, now: Date) {
        let lookup = record.lookup(of: key, now: now)
        self.init(
            state: .init(lookup.state), name: record.listing?.name ?? "", kind: record.listing?.kind,
            topics: (record.listing?.topics ?? []).map(\.rawValue), lookup)
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
