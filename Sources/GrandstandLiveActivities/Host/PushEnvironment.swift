public import Foundation

/// The APNs environment of an app's tokens. The environment follows from the app's signature, so it need not be
/// configured.
public enum PushEnvironment: String, Codable, Sendable, Hashable {
    /// Apple's sandbox: builds installed by Xcode, and the Simulator.
    case development
    /// The App Store, TestFlight, ad hoc and enterprise builds.
    case production

    /// Reads the environment from a provisioning profile (entitlement `aps-environment`).
    ///
    /// - Parameter profile: the file `embedded.mobileprovision`, a property list inside a CMS signature.
    /// - Throws: `PushEnvironmentError`.
    public init(provisioningProfile profile: Data) throws {
        guard let start = profile.range(of: Data("<?xml".utf8)),
            let end = profile.range(of: Data("</plist>".utf8), in: start.lowerBound..<profile.endIndex),
            let list = try? PropertyListSerialization.propertyList(
                from: profile.subdata(in: start.lowerBound..<end.upperBound), format: nil),
            let content = list as? [String: Any],
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

    /// The environment of a bundle. Apps from the App Store and TestFlight have no profile; these apps use production.
    ///
    /// - Throws: `PushEnvironmentError` if there is a profile that cannot be read.
    public static func of(_ bundle: Bundle, isSimulator: Bool = isSimulator) throws -> PushEnvironment {
        if isSimulator { return .development }
        guard let profile = bundle.url(forResource: "embedded", withExtension: "mobileprovision") else {
            return .production
        }
        return try PushEnvironment(provisioningProfile: Data(contentsOf: profile))
    }

    /// Whether this code was built for the Simulator.
    public static var isSimulator: Bool {
        #if targetEnvironment(simulator)
            true
        #else
            false
        #endif
    }
}

/// Why the environment cannot be determined.
public enum PushEnvironmentError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file is not a provisioning profile.
    case unreadableProfile
    /// The app was signed without the push capability.
    case noPushEntitlement
    /// An environment that this version does not know.
    case unknownEnvironment(String)

    /// A sentence about the problem, with advice.
    public var description: String {
        switch self {
        case .unreadableProfile: "embedded.mobileprovision contains no property list with entitlements."
        case .noPushEntitlement:
            "The app is signed without aps-environment: add the capability Push Notifications to its target."
        case .unknownEnvironment(let name): "aps-environment is \(name); expected development or production."
        }
    }
}
