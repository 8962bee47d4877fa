package import APNsWire
package import FoundationEssentials
internal import JSON

/// Reads the names in the path of a request to the API or the console. It refuses names that are invalid or out of the
/// caller's reach.
package protocol PathReading: Reaching {
    /// A path parameter, still percent-encoded.
    func parameter(_ name: String) -> String?
}

/// A caller of the API or the console, or one of its requests.
package protocol Reaching {
    /// The apps that the caller reaches.
    var reach: AppReach { get }
}

extension Reaching {
    /// - Throws: `forbidden` for an app out of reach.
    package func requireAccess(to bundleID: BundleID) throws(Problem) {
        guard reach.covers(bundleID) else { throw reach.refusal }
    }

    /// - Parameter other: the apps of the object that is asked for.
    /// - Throws: `forbidden`.
    package func requireAccess(to other: AppReach) throws(Problem) {
        guard reach.covers(other) else { throw reach.refusal }
    }
}

extension PathReading {
    /// A percent-decoded parameter. Text that cannot be decoded is returned unchanged.
    package func text(_ name: String) -> String {
        let raw = parameter(name) ?? ""
        return PercentEncoding.decode(raw) ?? raw
    }

    /// - Throws: `app-not-found` for text that cannot be a bundle ID; `forbidden` for an app out of reach.
    package func bundleID() throws(Problem) -> BundleID {
        let text = text("bundleId")
        guard let bundleID = BundleID(rawValue: text) else {
            throw Problem(.appNotFound, "\(JSONText.quoted(text)) cannot be a bundle ID. \(BundleID.rule)")
        }
        try requireAccess(to: bundleID)
        return bundleID
    }

    /// - Throws: `not-found` for anything but Apple's two environments.
    package func environment() throws(Problem) -> APNsEnvironment {
        let text = text("environment")
        guard let environment = APNsEnvironment(rawValue: text) else {
            throw Problem(
                .notFound, "\(JSONText.quoted(text)) is not an environment; use development or production.",
                errors: [FieldError(pointer: "environment", detail: "development or production was expected.")])
        }
        return environment
    }

    /// The app and environment in the path.
    package func app() throws(Problem) -> AppEnvironment {
        AppEnvironment(bundleID: try bundleID(), environment: try environment())
    }

    /// - Throws: `event-not-found` for text that cannot be an event key.
    package func eventKey() throws(Problem) -> EventKey {
        let text = text("key")
        guard let key = EventKey(rawValue: text) else {
            throw Problem(.eventNotFound, "\(JSONText.quoted(text)) cannot be an event key. \(EventKey.rule)")
        }
        return key
    }

    /// Reads a UUID. Invalid text gives the same error as an unknown ID.
    package func id(_ name: String = "id", orThrow kind: Problem.Kind) throws(Problem) -> UUID {
        let text = text(name)
        guard let id = UUID(uuidString: text) else {
            throw Problem(kind, "\(JSONText.quoted(text)) is not a valid ID; IDs are UUIDs.")
        }
        return id
    }
}
