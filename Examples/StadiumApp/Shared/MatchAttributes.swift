#if canImport(ActivityKit)
    import ActivityKit

    /// The name is what organisers write in `start.attributesType`; its members are their `start.attributes`.
    struct MatchAttributes: ActivityAttributes, Sendable {
        typealias ContentState = MatchScore

        /// The organiser's key of the event: so the app knows which event an activity shows that a push started.
        var eventKey: String
        var home: String
        var away: String

        init(_ fixture: Fixture) {
            eventKey = fixture.id
            home = fixture.home
            away = fixture.away
        }
    }
#endif
