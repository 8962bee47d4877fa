internal import Foundation

extension GrandstandClient {
    /// An app in one of APNs' environments.
    public struct AppEnvironment: Sendable, Hashable, Codable {
        /// The bundle ID as registered at Apple.
        public var bundleId: String
        /// Which of APNs' environments.
        public var environment: Environment

        /// The app in this environment.
        public init(_ bundleId: String, _ environment: Environment) {
            self.bundleId = bundleId
            self.environment = environment
        }
    }

    /// Who an installation is: its app, the UUID the app made for it, and the secret the app drew. Keep it in the keychain;
    /// whoever lost it registers anew.
    public struct InstallationIdentity: Sendable, Hashable, Codable {
        /// The app that is installed.
        public var app: AppEnvironment
        /// A UUID in lower case.
        public let installationId: String
        /// 32 random bytes in base64url.
        public let secret: String

        /// An installation that is known.
        public init(app: AppEnvironment, installationId: String, secret: String) {
            self.app = app
            self.installationId = installationId
            self.secret = secret
        }

        /// A new installation, with a secret out of the system's random numbers.
        public init(new app: AppEnvironment) {
            var generator = SystemRandomNumberGenerator()
            self.init(
                app: app, installationId: UUID().uuidString.lowercased(),
                secret: Data((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
                    .base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: ""))
        }
    }
}
