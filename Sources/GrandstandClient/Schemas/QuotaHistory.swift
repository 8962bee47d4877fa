public import Foundation

extension GrandstandClient {
    /// How much of each app's limit was taken, step by step.
    public struct QuotaHistory: Sendable, Hashable, Codable {
        /// From here on.
        public var from: Date
        /// Up to here.
        public var to: Date
        /// Seconds.
        public var step: Int
        /// The entries.
        public var items: [QuotaSample]
    }

    /// One step of one app in one environment.
    public struct QuotaSample: Sendable, Hashable, Codable {
        /// The app's bundle ID, as registered at Apple.
        public var bundleId: String
        /// APNs' environment.
        public var environment: Environment
        /// The end of the step.
        public var at: Date
        /// Channels at Apple, of the step's last sample.
        public var used: Int
        /// Places taken for creations on their way, of the step's last sample.
        public var reserved: Int
        /// The most places taken at once, used and reserved, of the step's samples.
        public var peak: Int
        /// Channels at most.
        public var limit: Int
        /// Channels made in the step.
        public var created: Int
        /// Channels deleted in the step.
        public var deleted: Int
    }
}
