public import Foundation

/// The APNs environment that gives an app its tokens. It follows from how the app was signed; nobody has to say it.
public enum PushEnvironment: String, Codable, Sendable, Hashable {
    /// Apple's sandbox: builds that Xcode installs, and the Simulator.
    case development
    /// The App Store, TestFlight, ad hoc and enterprise builds.
    case production

    /// The environment of a provisioning profile: its entitlement `aps-environment`.
    ///
    /// - Parameter profile: the file `embedded.mobileprovision`: a property list within a CMS signature.
    /// - Throws: `PushEnvironmentError`.
    public init(provisioningProfile profile: Data) throws {
        guard let start = profile.range(of: Data("<?xml".utf8)),
            let end = profile.range(of: Data("</plist>".utf8), in: start.lowerBound..<profile.endIndex)
        else { throw PushEnvironmentError.unreadableProfile }
        let list = profile.subdata(in: start.lowerBound..<end.upperBound)
        guard
            let content = try? PropertyListSerialization.propertyList(from: list, format: nil) as? [String: Any],
            let entitlements = content["Entitlements"] as? [String: Any]
        else { throw PushEnvironmentError.unreadableProfile }
        guard let name = entitlements["aps-environment"] as? String else {
            throw PushEnvironmentError.noPushEntitlement
        }
        guard let environment = PushEnvironment(rawValue: name) else {
            throw PushEnvironmentError.unknownEnvironment(name)
        }
        self = environment
    }

    /// The environment of a bundle: the profile's, where it has one. Apps from the App Store and TestFlight have none.
    ///
    /// - Throws: `PushEnvironmentError`; when there is a profile that cannot be read.
    public static func of(_ bundle: Bundle, isSimulator: Bool = isSimulator) throws -> PushEnvironment {
        if isSimulator { return .development }
        guard let profile = bundle.url(forResource: "embedded", withExtension: "mobileprovision") else {
            return .production
        }
        return try PushEnvironment(provisioningProfile: Data(contentsOf: profile))
    }

    /// Whether this was built for the Simulator.
    public static var isSimulator: Bool {
        #if targetEnvironment(simulator)
            true
        #else
            false
        #endif
    }
}

/// The environment cannot be told.
public enum PushEnvironmentError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The profile is none.
    case unreadableProfile
    /// The app was signed without the capability.
    case noPushEntitlement
    /// An environment that Apple had not yet.
    case unknownEnvironment(String)

    /// What is wrong, and what to do.
    public var description: String {
        switch self {
        case .unreadableProfile: "embedded.mobileprovision holds no property list with entitlements."
        case .noPushEntitlement:
            "The app is signed without aps-environment: add the capability Push Notifications to its target."
        case .unknownEnvironment(let name): "aps-environment is \(name); development or production was expected."
        }
    }
}
