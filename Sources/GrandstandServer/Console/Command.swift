internal import APNsWire
internal import Grandstand

/// A shell command for an action that the console only explains. Its words are plain, so that the shell needs no quotes.
struct Command: Sendable, Equatable {
    /// What the command does.
    let what: String
    let line: String

    static func doctor(_ bundleID: BundleID) -> Command {
        Command(
            what: "Check keys, capability and the connection to Apple", line: "grandstand doctor --app \(bundleID)")
    }

    static func reconcile(_ app: AppEnvironment, _ doing: Reconciling) -> Command {
        let words = ["grandstand reconcile", app.bundleID.rawValue, app.environment.rawValue] + doing.flags
        return Command(what: doing.label, line: words.joined(separator: " "))
    }
}
