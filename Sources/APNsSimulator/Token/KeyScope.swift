package import APNsWire

/// The scope of a provider key (docs/internals/apns.md section 5): unrestricted, as all keys were until 2025; one
/// environment; or one environment and some topics.
package struct KeyScope: Sendable, Hashable {
    /// `nil`: both environments.
    package var environment: APNsEnvironment?
    /// Bundle IDs in lower case; `nil`: all apps of the team.
    package var topics: Set<String>?

    /// No restriction.
    package init() {}

    /// Parses `development`, `production:com.example.a,com.example.b` or `:com.example.a`.
    ///
    /// - Throws: an error that says what to write, if the environment is unknown or a topic is empty.
    package init(parsing text: String) throws(SimulatorError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if let name = parts.first, !name.isEmpty {
            guard let environment = APNsEnvironment(rawValue: name) else {
                throw SimulatorError("\"\(name)\" is not an environment: write development or production.")
            }
            self.environment = environment
        }
        guard parts.count == 2 else { return }
        let topics = parts[1].split(separator: ",", omittingEmptySubsequences: false).map { $0.lowercased() }
        guard topics.allSatisfy({ !$0.isEmpty }) else {
            throw SimulatorError("\"\(text)\" has an empty topic: write environment:topic,topic.")
        }
        self.topics = Set(topics)
    }

    func allows(topic: String) -> Bool { topics?.contains(topic) ?? true }

    /// Parses a list of `KEYID=SCOPE`. If a key occurs twice, the last one counts.
    ///
    /// - Throws: an error that says what to write.
    package static func list(parsing list: [String]) throws(SimulatorError) -> [String: KeyScope] {
        var scopes: [String: KeyScope] = [:]
        for text in list {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                throw SimulatorError(
                    "\"\(text)\" is not a scope of a key: write KEYID=development, or KEYID=production:topic,topic.")
            }
            scopes[parts[0]] = try KeyScope(parsing: parts[1])
        }
        return scopes
    }
}
