/// The limits of a calendar's text. Larger ones are refused with the line, before more is read.
package enum CalendarLimits {
    /// Of a whole file. Ten leagues of 380 fixtures take 1.5 MB as iCalendar.
    package static let bytes = 4 * 1_024 * 1_024
    static let lines = 200_000
    /// Of a line of iCalendar after unfolding, or a field of CSV.
    static let fieldBytes = 16 * 1_024
    /// Of a UID.
    static let uidBytes = 512
    /// Fields of one CSV record.
    static let columns = 200
    package static let entries = 5_000
    /// Components within each other.
    static let depth = 8
    /// The years of events, as the API takes them.
    static let years = 2000...2099
}
