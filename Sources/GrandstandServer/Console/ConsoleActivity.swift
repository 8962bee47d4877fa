internal import APNsWire
internal import FoundationEssentials

/// The present activity, restricted to the apps of a key.
struct ConsoleActivity: Sendable {
    /// How this replica reached APNs recently.
    struct Apple: Sendable {
        var environment: APNsEnvironment
        var word: String
        var detail: String?
        /// Whether this replica reaches APNs; `nil`: not known yet.
        var isFine: Bool?
    }

    var messages: Int
    /// When the oldest waiting message was accepted; `nil`: no message waits. A message waits if it is due and still
    /// has unsettled deliveries.
    var oldestWaiting: Date?
    var apple: [Apple]
}
