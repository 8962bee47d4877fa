/// How the management paths treat capitals in a bundle ID (docs/internals/apns.md section 7).
package enum CapitalsRule: String, Sendable, Hashable, CaseIterable {
    /// A bundle ID with capitals gets 403 `TopicMismatch`, as seen live in 2024. Broadcasts still accept capitals.
    case refused
    /// Capitals are accepted, as Apple's samples suggest.
    case accepted
}
