package import FoundationEssentials
package import JSON

/// One part of a list, in the form for apps.
package struct LookupList: JSONObjectWritable {
    private let part: LookupIndex.Part
    private let now: Date

    package init(part: LookupIndex.Part, now: Date) {
        self.part = part
        self.now = now
    }

    package func write(members object: inout JSONWriter) {
        object.objects("items", part.items) { object, item in
            item.record.entry(of: item.key, now: now).write(members: &object)
            object.member("name", item.record.listing?.name)
            object.member("kind", item.record.listing?.kind)
            object.member("topics", (item.record.listing?.topics ?? []).map(\.rawValue))
        }
        object.member("nextCursor", part.next?.text)
    }
}
