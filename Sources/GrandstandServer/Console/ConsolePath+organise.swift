internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

// The paths for organisers.
extension ConsolePath {
    /// The path of an action on an event. The action is `preview`, `send`, `cancel`, `reopen`, `start`, `stop` or
    /// `move`.
    static func event(_ key: EventKey, _ verb: String) -> String { event(key) + "/" + verb }

    /// The page of the event, with a prefilled form for the next message.
    ///
    /// - Parameters:
    ///   - broadcast: the message whose values fill the form; `nil`: the newest message.
    ///   - message: `update` or `end`.
    static func composer(_ key: EventKey, from broadcast: UUID? = nil, _ message: String? = nil) -> String {
        link(event(key), [("from", broadcast?.uuidString.lowercased()), ("event", message)]) + "#compose"
    }

    static func withdrawal(of broadcast: UUID, _ key: EventKey) -> String {
        event(key, "broadcasts/\(broadcast.uuidString.lowercased())/withdraw")
    }
}
