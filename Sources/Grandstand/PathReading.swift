package import APNsWire
package import FoundationEssentials
internal import JSON

/// A request whose path names things, to the API or the console: how such names are read, and refused where they cannot
/// be names or are out of reach.
package protocol PathReading {
    /// A parameter as it stands in the path, escapes and all.
    func parameter(_ name: String) -> String?

    /// The apps that the request reaches.
    var reach: AppReach { get }
}

extension PathReading {
    /// A parameter, percent-decoded; text that does not decode stays as it came.
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
        try requireCover(of: bundleID)
        return bundleID
    }

    /// - Throws: `not-found` for anything but Apple's two environments.
    package func environment() throws(Problem) -> APNsEnvironment {
        let text = text("environment")
        guard let environment = APNsEnvironment(rawValue: text) else {
            throw Problem(
                .notFound, "\(JSONText.quoted(text)) is no environment; there are development and production.",
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

    /// A UUID; text that is none names nothing.
    package func id(_ name: String = "id", orThrow kind: Problem.Kind) throws(Problem) -> UUID {
        let text = text(name)
        guard let id = UUID(uuidString: text) else {
            throw Problem(kind, "\(JSONText.quoted(text)) is not an ID of ours; those are UUIDs.")
        }
        return id
    }

    /// - Throws: `forbidden` for an app out of reach.
    package func requireCover(of bundleID: BundleID) throws(Problem) {
        guard reach.covers(bundleID) else { throw reach.refusal }
    }
}
