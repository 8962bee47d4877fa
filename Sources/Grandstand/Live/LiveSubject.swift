/// The subject of a live view: an event, as far as the viewer's key reaches.
package struct LiveSubject: Sendable, Hashable {
    package let key: EventKey
    package let reach: AppReach

    package init(_ key: EventKey, within reach: AppReach = .all) {
        self.key = key
        self.reach = reach
    }
}
