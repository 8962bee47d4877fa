internal import Grandstand
internal import GrandstandContract

/// The progress of an audience's start: a bar of all followers.
struct StartBar: Sendable {
    /// `com.example.Stadium, production`
    let audience: String
    let startState: String
    let bar: Bar
    /// The counts of followers as text: `1,200 followers: 1,100 confirmed, 50 accepted, …`
    let counted: String

    init(_ report: Contract.AudienceStart) {
        let counts = report.counts
        let words: [(kind: String, count: Int)] = [
            ("confirmed", counts.confirmed), ("accepted", max(0, counts.accepted - counts.confirmed)),
            ("rejected", counts.rejected), ("unknown", counts.unknown), ("to go", counts.pending),
            ("none for", counts.ineligible.total),
        ]
        audience = report.words
        startState = report.state.rawValue
        let said = words.filter { $0.count > 0 }.map { "\(Wording.number($0.count)) \($0.kind)" }
        counted = ([Wording.count(counts.followers, "follower")] + said).joined(separator: ", ")
        bar = Bar(
            words.map { (kind: $0.kind.replacing(" ", with: "-"), count: $0.count) }, of: counts.followers,
            text: "\(audience): \(counted)")
    }
}
