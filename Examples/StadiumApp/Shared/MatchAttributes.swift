#if canImport(ActivityKit)
    import ActivityKit

    /// Organisers write this type's name into `start.attributesType`, and its members into `start.attributes`.
    struct MatchAttributes: ActivityAttributes, Sendable {
        typealias ContentState = MatchScore

        /// The organiser's key of the event. The app needs it to know the event of an activity that a push started.
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
