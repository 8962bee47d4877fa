package import APNsWire
package import Grandstand

/// The lists of events that an app may offer to follow, from memory only.
extension LookupReplica {
    /// The cached list for `uri`; `nil`: it is not cached, memory is too old, or a change of this process has not been
    /// read yet.
    package func knownList(_ uri: String) -> (body: LookupBody, freshness: Freshness)? {
        guard marks.areAllRead else { return nil }
        let now = now()
        let freshness = freshness(now)
        guard freshness != .unknown, let body = lists.known(uri, ownChanges: marks.made, now: now) else { return nil }
        return (body, freshness)
    }

    /// The list for a query, with all changes that this process made before. If these could not be read in time, the
    /// answer counts as stale.
    ///
    /// - Parameter uri: the query's URI, under which the answer is cached for `knownList`.
    /// - Throws: `store-unavailable` if memory is empty or too old.
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
