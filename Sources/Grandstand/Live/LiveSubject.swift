/// The subject of a live view: an event, within the reach of the viewer's key.
package struct LiveSubject: Sendable, Hashable {
    package let key: EventKey
    package let reach: AppReach

    package init(_ key: EventKey, within reach: AppReach = .all) {
        self.key = key
        self.reach = reach
    }
}
