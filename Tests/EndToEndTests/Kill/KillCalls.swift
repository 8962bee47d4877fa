/// The calls of a run and their answers. Each message of an event has a step, a number that rises. A round has two
/// steps for each event: one for an update, and one for a draft that is to be withdrawn.
struct KillCalls {
    /// The outcome of one event's calls in a round.
    struct Call: Sendable {
        var event: Int
        /// The newest step that was answered with 202 and not withdrawn; `nil`: none.
        var accepted: Int?
        /// Steps with a call that failed or got no answer: they may have been accepted, or withdrawn.
        var maybe: Set<Int> = []
        /// Steps that were withdrawn: 204.
        var withdrawn: Set<Int> = []
    }

    /// The newest step of each event that was answered with 202.
    private var newest: [Int]
    private var maybe: [Set<Int>]
    private(set) var withdrawn: [Set<Int>]
    private(set) var accepted = 0
    private(set) var unanswered = 0

    init(events: Int) {
        newest = [Int](repeating: 0, count: events)
        maybe = [Set<Int>](repeating: [], count: events)
        withdrawn = maybe
    }

    mutating func note(_ call: Call) {
        if let step = call.accepted {
            newest[call.event] = max(newest[call.event], step)
            accepted += 1
        }
        maybe[call.event].formUnion(call.maybe)
        unanswered += call.maybe.count
        withdrawn[call.event].formUnion(call.withdrawn)
    }

    /// Whether the last message of every event is its newest step, or a later one that may have been accepted.
    func areMet(by arrivals: [Arrival]) -> Bool {
        var last = [Int](repeating: 0, count: newest.count)
        for arrival in arrivals { last[arrival.match] = arrival.number }
        return newest.indices.allSatisfy { event in
            last[event] == newest[event] || last[event] > newest[event] && maybe[event].contains(last[event])
        }
    }

    var withdrawals: Int { withdrawn.reduce(0) { $0 + $1.count } }
}
