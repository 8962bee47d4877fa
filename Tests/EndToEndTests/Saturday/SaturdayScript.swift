internal import GrandstandClient
internal import GrandstandTestKit

/// The steps of the organiser of one match. The seed decides them.
struct SaturdayScript: Sendable {
    enum Deed: Sendable {
        case goal, update
        /// The last goal did not count.
        case correct
        /// The start of the match is moved to another day. The next message begins the match all the same.
        case postpone
        case end, reopen
    }

    struct Step: Sendable {
        let deed: Deed
        /// How long the first attempt waits for its answer; `nil`: as long as it takes.
        let giveUp: Duration?
        /// Whether the call is sent once more after it was answered.
        let isSentTwice: Bool
    }

    let number: Int
    let policy: GrandstandClient.StoragePolicy
    /// `nil`: the audience without a variant.
    let variants: [String?]
    /// Whether a push starts the activities of followers.
    let isStarted: Bool
    /// Whether the match is moved before its first message, which is scheduled relative to the kick-off.
    let isMovedFirst: Bool
    let declaring: Step
    let steps: [Step]

    init(_ number: Int, seed: UInt64) {
        var random = SplitMix(seed: seed &+ UInt64(number) &* 1_000_003)
        func step(_ deed: Deed, _ random: inout SplitMix) -> Step {
            let giveUp = random.next(below: 3) == 0 ? Duration.milliseconds(random.next(below: 30)) : nil
            return Step(deed: deed, giveUp: giveUp, isSentTwice: random.next(below: 5) == 0)
        }
        self.number = number
        policy = random.next(below: 2) == 0 ? .noMessageStored : .mostRecentMessageStored
        // The number of the match decides its kind, so that each kind occurs even among few matches.
        variants = number.isMultiple(of: 2) ? [nil] : [nil, "de", "en"]
        isMovedFirst = number.isMultiple(of: 2)
        isStarted = isMovedFirst && number % 3 != 2
        declaring = step(.update, &random)
        var deeds: [Deed] = (0..<(5 + random.next(below: 5))).map { _ in random.next(below: 3) == 0 ? .goal : .update }
        deeds.insert(contentsOf: [.goal, .correct], at: 1 + random.next(below: deeds.count - 1))
        if number % 6 == 3 { deeds.insert(.postpone, at: 1 + random.next(below: deeds.count - 1)) }
        if number % 5 != 4 {
            deeds.append(.end)
            if number % 4 == 1 { deeds += [.reopen, .goal, .update] }
        }
        if number % 8 == 5 { deeds.append(.end) }
        steps = deeds.map { step($0, &random) }
    }

    var key: String { "saturday-\(number)" }
    var topic: String { "team:saturday-\(number)" }
    /// Whether the match is over at the end of the day.
    var isOver: Bool { steps.last?.deed == .end }
}
