package import APNsWire
package import Grandstand

/// Lists of the events that an app may offer to follow, from memory alone.
extension LookupReplica {
    /// The list that `uri` asked for before, at once; `nil` when memory does not have it, cannot be believed any more, or
    /// has not read what this process changed.
    package func knownList(_ uri: String) -> (body: LookupBody, freshness: Freshness)? {
        guard marks.areAllRead else { return nil }
        let now = now()
        let freshness = freshness(now)
        guard freshness != .unknown, let body = lists.known(uri, ownChanges: marks.made, now: now) else { return nil }
        return (body, freshness)
    }

    /// The list that is asked for, with all that this process has changed before.
    ///
    /// - Parameter uri: the question as it came, by which `knownList` finds the answer.
    /// - Throws: `store-unavailable` while memory has nothing that can be believed.
    package func list(
        _ query: LookupListQuery, topic: String, in environment: APNsEnvironment, uri: String
    ) async throws -> (body: LookupBody, freshness: Freshness) {
        let made = marks.made
        let isRead = await marks.areAllRead()
        let now = now()
        let freshness = freshness(now)
        guard freshness != .unknown else { throw Self.unread }
        let app = LookupLists.App(topic: topic, environment: environment)
        let body = lists.body(uri, app, query, ownChanges: made, isKept: isRead, now: now)
        guard !isRead, freshness == .confirmed else { return (body, freshness) }
        return (body, .stale(seconds: Int(settings.patience.components.seconds)))
    }
}
