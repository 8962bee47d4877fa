/// The variants of APNs' behaviour, where APNs' documentation, observations and inference differ or say nothing. There
/// is one value for each quirk. The default is the observed behaviour. If no behaviour was observed, the default is the
/// stricter value.
///
/// `table` has, for each quirk, its name for the command line and the control API, and the source of its values.
package struct Quirks: Sendable, Hashable {
    var capitals = CapitalsRule.refused
    var unknownDevice = Acceptance.refused

    /// All defaults.
    package init() {}

    enum Acceptance: String, CaseIterable {
        case refused
        case accepted
    }
}
