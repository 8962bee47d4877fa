package import APNsWire
package import FoundationEssentials

/// What goes on now, as far as a key reaches.
package struct ConsoleActivity: Sendable {
    /// How APNs was reached lately, by the replica that answers.
    package struct Apple: Sendable {
        package var environment: APNsEnvironment
        package var word: String
        package var detail: String?
        /// `nil`: not known yet.
        package var isFine: Bool?

        package init(environment: APNsEnvironment, word: String, detail: String?, isFine: Bool?) {
            self.environment = environment
            self.word = word
            self.detail = detail
            self.isFine = isFine
        }
    }

    package var messages: Int
    /// When the oldest message was accepted that is due and not settled; `nil`: there is none.
    package var oldestWaiting: Date?
    package var apple: [Apple]

    package init(messages: Int, oldestWaiting: Date?, apple: [Apple]) {
        self.messages = messages
        self.oldestWaiting = oldestWaiting
        self.apple = apple
    }
}
