public import Foundation

extension GrandstandClient {
    /// The push that starts the event's Live Activity for everyone who follows one of its topics.
    public struct StartDraft: Sendable, Hashable, Codable {
        /// When.
        public var at: Date?
        /// Who follows until then gets it.
        public var until: Date?
        /// The name of the type of its attributes.
        public var attributesType: String
        /// The attributes, byte for byte.
        public var attributes: RawJSON
        /// The content, byte for byte.
        public var contentState: RawJSON?
        /// What rings with it.
        public var alert: Alert
        /// Alerts by BCP 47 tags; else `alert`.
        public var alertsByLocale: [String: Alert]?
        /// When its content is out of date.
        public var staleDate: Date?
        /// Who it is for.
        public var audiences: [AudienceSelector]?

        /// What is left out is not said.
        public init(
            at: Date? = nil, until: Date? = nil, attributesType: String, attributes: RawJSON,
            contentState: RawJSON? = nil, alert: Alert, alertsByLocale: [String: Alert]? = nil,
            staleDate: Date? = nil, audiences: [AudienceSelector]? = nil
        ) {
            self.at = at
            self.until = until
            self.attributesType = attributesType
            self.attributes = attributes
            self.contentState = contentState
            self.alert = alert
            self.alertsByLocale = alertsByLocale
            self.staleDate = staleDate
            self.audiences = audiences
        }
    }

    /// Followers by what became of their start. `accepted` is APNs' word; `confirmed` is the app's.
    public struct StartCounts: Sendable, Hashable, Codable {
        /// How many follow it.
        public var followers: Int
        /// APNs said 200.
        public var accepted: Int
        /// The app reported the activity.
        public var confirmed: Int
        /// APNs refused them.
        public var rejected: Int
        /// APNs did not answer; not repeated.
        public var unknown: Int
        /// Not yet answered.
        public var pending: Int
        /// Below iOS 17.2; Live Activities switched off; no usable start token of the attributes' type.
        public var ineligible: Ineligible
    }

    /// Below iOS 17.2; Live Activities switched off; no usable start token of the attributes' type.
    public struct Ineligible: Sendable, Hashable, Codable {
        /// Below iOS 17.2.
        public var system: Int
        /// Live Activities switched off.
        public var disabled: Int
        /// No usable start token of the type.
        public var noToken: Int
    }
}
