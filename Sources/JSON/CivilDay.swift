/// A day in the Gregorian calendar.
package struct CivilDay: Sendable, Hashable {
    package let year: Int
    /// 1 to 12.
    package let month: Int
    /// 1 to 31.
    package let day: Int

    /// - Parameter days: days since 1 January 1970.
    package init(_ days: Int) {
        // The year is counted from March, so that the leap day is its last day. An era of 400 years has 146,097 days;
        // day 0 is 1 March 0000.
        let shifted = days + 719_468
        let era = (shifted < 0 ? shifted - 146_096 : shifted) / 146_097
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * ofYear + 2) / 153
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        day = ofYear - (153 * monthFromMarch + 2) / 5 + 1
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }
}
