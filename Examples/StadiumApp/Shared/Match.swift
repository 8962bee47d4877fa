/// The content of a match's activity, on the lock screen and in the Dynamic Island. Both targets contain it. It needs
/// no framework of Apple's, so it also builds on Linux (target `StadiumShared` of this repository).
struct MatchScore: Codable, Hashable, Sendable {
    var home: Int
    var away: Int
    /// The minute of play; `nil` before kick-off and after the end.
    var minute: Int?
    /// The newest event, e.g. `Goal: Grgić`.
    var headline: String?

    /// E.g. `2 : 1`.
    var text: String { "\(home) : \(away)" }

    /// E.g. `67'`; empty before kick-off and after the end.
    var clock: String { minute.map { "\($0)'" } ?? "" }

    /// The score for VoiceOver.
    func spoken(home homeName: String, away awayName: String) -> String {
        let score = "\(homeName) \(home), \(awayName) \(away)"
        return minute.map { "\(score), minute \($0)" } ?? score
    }
}
