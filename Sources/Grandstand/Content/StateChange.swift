package import GrandstandContract
package import JSON

/// The difference between a state and the newest accepted content of one audience. Whether something is sent depends on
/// that content. Whether it rings depends on the last state, because a message that somebody composed in between does not
/// say what happened.
package struct StateChange: Sendable {
    package let outcome: Contract.StateOutcome
    /// The index in `rings` of the rule that matched.
    package let rule: Int?

    /// - Parameters:
    ///   - old: the newest accepted content; `nil`: there is none, or Apple did not take it.
    ///   - told: the last state; `nil`: the newest accepted content counts as the last state.
    ///   - type: `nil`: every difference is an update.
    package init(from old: JSONValue?, after told: JSONValue? = nil, to new: JSONValue, by type: ContentType?) {
        if let old, old.source.elementsEqual(new.source) || old.isSame(as: new) {
            (outcome, rule) = (.unchanged, nil)
            return
        }
        let rules = type?.rules ?? StateRules()
        if let before = told ?? old, let ringing = rules.rings.firstIndex(where: { $0.holds(from: before, to: new) }) {
            (outcome, rule) = (.rings, ringing)
            return
        }
        let isQuiet = !rules.quiet.isEmpty && old?.isSame(as: new, ignoring: rules.quiet) ?? false
        (outcome, rule) = (isQuiet ? .quiet : .update, nil)
    }
}
