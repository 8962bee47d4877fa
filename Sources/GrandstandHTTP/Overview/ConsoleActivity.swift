package import APNsWire
package import FoundationEssentials

/// The present activity, restricted to the apps of a key.
package struct ConsoleActivity: Sendable {
    /// How this replica reached APNs recently.
    package struct Apple: Sendable {
        package var environment: APNsEnvironment
        package var word: String
        package var detail: String?
        /// Whether this replica reaches APNs; `nil`: not known yet.
        package var isFine: Bool?

        package init(environment: APNsEnvironment, word: String, detail: String?, isFine: Bool?) {
            self.environment = environment
            self.word = word
            self.detail = detail
            self.isFine = isFine
        }
    }

    package var messages: Int
    /// When the oldest waiting message was accepted; `nil`: no message waits. A message waits if it is due and still
    /// has unsettled deliveries.
    package var oldestWaiting: Date?
    package var apple: [Apple]

    package init(messages: Int, oldestWaiting: Date?, apple: [Apple]) {
        self.messages = messages
        self.oldestWaiting = oldestWaiting
        self.apple = apple
    }
}
