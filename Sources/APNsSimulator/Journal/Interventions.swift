/// The interventions of a test between APNs and its client: rules in the order they were added. The first rule that
/// matches a request acts on it.
struct Interventions: Sendable {
    enum Action: Sendable {
        /// The client gets this answer instead of APNs' own. Channels and messages do not change.
        case answer(SimulatorAnswer)
        /// The request is processed. The answer is withheld until the hold is released.
        case hold(Hold)
        /// The request is processed and never answered.
        case drop
    }

    private struct Rule: Sendable {
        /// The number of requests that the rule still acts on; `nil`: no limit.
        var remaining: Int?
        var matches: @Sendable (SimulatorRequest) -> Bool
        var action: Action
    }

    private var rules: [Rule] = []

    mutating func add(_ action: Action, count: Int?, where matches: @escaping @Sendable (SimulatorRequest) -> Bool) {
        rules.append(Rule(remaining: count, matches: matches, action: action))
    }

    /// The action for `request`. If the rule has a limit, `remaining` goes down by one.
    mutating func claim(_ request: SimulatorRequest) -> Action? {
        guard !rules.isEmpty else { return nil }
        rules.removeAll { rule in
            if rule.remaining == 0 { return true }
            if case .hold(let hold) = rule.action { return hold.isReleased }
            return false
        }
        guard let index = rules.firstIndex(where: { $0.matches(request) }) else { return nil }
        if let remaining = rules[index].remaining { rules[index].remaining = remaining - 1 }
        return rules[index].action
    }
}
