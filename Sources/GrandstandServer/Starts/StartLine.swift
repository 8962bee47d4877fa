internal import Grandstand
internal import GrandstandContract

/// The progress of an audience's start, as a sentence.
struct StartLine: Sendable {
    /// `com.example.Stadium, production`
    let audience: String
    let startState: String
    /// `Of 1,200 followers, 1,100 confirmed it, Apple took it for 50 more and 50 are to get it.`
    let counted: String
    /// Why it waits.
    let waiting: String
    let begun: Moment?

    init(_ report: Contract.AudienceStart) {
        let counts = report.counts
        let (taken, none) = (max(0, counts.accepted - counts.confirmed), counts.ineligible)
        let refusals = Self.list(report.byReason.sorted { $0.key < $1.key }.map { ($0.value, $0.key) })
        let causes = Self.list([
            (none.system, "by their system"), (none.disabled, "switched off"), (none.noToken, "without a token"),
            (none.tooLate, "too late"),
        ])
        let all: [(count: Int, words: String)] = [
            (counts.confirmed, "# confirmed it"),
            (taken, "Apple took it for #\(counts.confirmed > 0 ? " more" : "")"),
            (counts.rejected, "Apple refused it for #\(refusals)"),
            (counts.unknown, "Apple did not answer for #"), (counts.pending, "# are to get it"),
            (none.total, "# cannot get one\(causes)"),
        ]
        audience = Wording.list(report.bundleId, report.environment.rawValue, report.variant)
        startState = report.state.rawValue
        begun = report.startedAt.map { Moment($0) }
        waiting = report.waitingFor?.words ?? ""
        let said = all.filter { $0.count > 0 }.map {
            $0.words.replacing("#", with: Wording.number($0.count), maxReplacements: 1)
        }
        let end = said.isEmpty ? [] : [said.suffix(2).joined(separator: " and ")]
        let sentence = ["Of \(Wording.count(counts.followers, "follower"))"] + said.dropLast(2) + end
        counted = counts.followers == 0 ? "Nobody follows it yet." : sentence.joined(separator: ", ") + "."
    }

    /// ` (2 switched off, 1 too late)`; empty if all counts are 0.
    private static func list(_ counts: [(Int, String)]) -> String {
        let words = counts.filter { $0.0 > 0 }.map { "\(Wording.number($0.0)) \($0.1)" }.joined(separator: ", ")
        return words.isEmpty ? "" : " (\(words))"
    }
}

extension Contract.StartWait {
    /// The reason why a start waits.
    fileprivate var words: String {
        switch self {
        case .channel: "It waits for the channel."
        case .room: "It waits for room: the app has as many channels as its limit allows."
        case .content: "It waits for content: send a message."
        case .contentTooLong: "It waits for a shorter content: with the newest one the push is too long."
        case .unknown(let word): word
        }
    }
}
