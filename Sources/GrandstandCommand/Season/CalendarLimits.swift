/// The limits of a calendar's text. Beyond a limit, the whole file is refused. Only a UID that is too long, or a year
/// outside of `years`, is a fault of its entry alone.
enum CalendarLimits {
    /// The most bytes of a file. Ten leagues of 380 fixtures take 1.5 MB as iCalendar.
    static let bytes = 4 * 1_024 * 1_024
    static let lines = 200_000
    /// The most bytes of an unfolded line of iCalendar, or of a field of CSV.
    static let fieldBytes = 16 * 1_024
    /// The most bytes of a UID.
    static let uidBytes = 512
    /// The most fields of a CSV record.
    static let columns = 200
    static let entries = 5_000
    /// The most bytes of an event's declaration that the API accepts.
    static let eventBytes = 65_536
    /// The deepest nesting of components.
    static let depth = 8
    /// The years that the API accepts for events.
    static let years = 2000...2099
}
