internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// The filter of a list of an app's events.
struct LookupListQuery: Sendable {
    /// Only events with this topic.
    var topic: String?
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

/// The events of one app and environment that can be followed, in the order of their start. The list is made from the
/// dictionary of lookups and used for a second.
struct LookupList: Sendable {
    let app: LookupApp
    /// All records of each event, also those that are over and those of other apps: a list must choose the same audience
    /// as a lookup. Events are in the order of their start, in microseconds since 1970, and their key. Events without a
    /// start come last.
    private let items: [(number: Int, key: String, records: [LookupRecord])]

    /// - Parameter events: those that the app offers.
    init(of app: LookupApp, _ events: [[LookupRecord]]) {
        self.app = app
        items = events.map { records in
            (records[0].startsAt.map(PageCursor.number) ?? PageCursor.last, records[0].key.rawValue, records)
        }.sorted { ($0.number, $0.key) < ($1.number, $1.key) }
    }

    /// The events that match `query` at `now`.
    func page(_ query: LookupListQuery, now: Date) -> Contract.FollowablePage {
        let from = query.from.map(PageCursor.number) ?? .min
        // A list with a limit of time leaves out events without a start.
        let isBounded = query.from != nil || query.to != nil
        let to = query.to.map(PageCursor.number) ?? (isBounded ? PageCursor.last : .max)
        var found: [Contract.Followable] = []
        var last: String?
        for item in items where from <= item.number && item.number < to {
            if let after = query.after, (item.number, item.key) <= (after.number, after.key) { continue }
            guard let record = record(item.records, query, now) else { continue }
            guard found.count < query.limit else { return .init(items: found, nextCursor: last) }
            found.append(Contract.Followable(record, now: now))
            last = PageCursor.text(item.number, item.key)
        }
        return .init(items: found, nextCursor: nil)
    }

    private func record(_ records: [LookupRecord], _ query: LookupListQuery, _ now: Date) -> LookupRecord? {
        if let topic = query.topic, !records[0].topics.contains(topic) { return nil }
        guard let index = records.index(of: query.variant, for: app) else { return nil }
        let record = records[index]
        guard !record.isOver else { return nil }
        guard let wanted = query.state else { return record }
        return (wanted == .live) == (record.state(now: now) == .live) ? record : nil
    }
}

extension LookupApp {
    /// Whether an audience of the app can follow the event.
    func offers(_ records: [LookupRecord]) -> Bool {
        records.contains { $0.name != nil && !$0.isOver && $0.isOf(self) }
    }
}

extension Contract.Followable {
    fileprivate init(_ record: LookupRecord, now: Date) {
        let lookup = record.lookup(now: now)
        self.init(
            state: .init(lookup.state), name: record.name ?? "", kind: record.kind, topics: record.topics, lookup)
    }
}
