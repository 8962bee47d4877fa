/// Decides the time of issue of provider tokens (docs/internals/apns.md C15). All values are seconds on this machine's
/// clock.
enum TokenSchedule {
    /// All tokens of a slot have the slot's beginning as their time of issue. APNs wants a new token after 20 minutes at
    /// the earliest and 60 minutes at the latest.
    static let slot = 2_400
    /// A slot's token is used from this time after the slot's beginning on. So APNs does not see a time of issue in the
    /// future, even if this machine's clock is ahead.
    static let margin = 60

    static func timeOfIssue(_ now: Int) -> Int { (now - margin) / slot * slot }
}
