/// What a match's card shows, on the lock screen and in the Dynamic Island. Both targets build it; it needs no framework of
/// Apple's, so Linux builds it, too (the target `StadiumShared` of this repository).
struct MatchScore: Codable, Hashable, Sendable {
    var home: Int
    var away: Int
    /// Minute of play; `nil` before kick-off and after the end.
    var minute: Int?
    /// What just happened, e.g. `Goal: Grgić`.
    var headline: String?
    /// `aps.timestamp` of the message, where the organiser says it: then the app can send receipts.
    var sentAt: Int?

    /// E.g. `2 : 1`.
    var text: String { "\(home) : \(away)" }

    /// E.g. `67'`; empty while nobody plays.
    var clock: String { minute.map { "\($0)'" } ?? "" }

    /// For people who listen instead of looking.
    func spoken(home homeName: String, away awayName: String) -> String {
        let score = "\(homeName) \(home), \(awayName) \(away)"
        return minute.map { "\(score), minute \($0)" } ?? score
    }
}
