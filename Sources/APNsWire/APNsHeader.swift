/// Names of the headers spoken with APNs; lowercase, as HTTP/2 demands.
package enum APNsHeader {
    package static let authorization = "authorization"
    package static let channelID = "apns-channel-id"
    package static let collapseID = "apns-collapse-id"
    package static let contentType = "content-type"
    package static let expiration = "apns-expiration"
    /// The device API's name for a message; broadcasts and management calls use `requestID`.
    package static let id = "apns-id"
    package static let priority = "apns-priority"
    package static let pushType = "apns-push-type"
    /// A canonical lowercase UUID, echoed by APNs, which makes one up when it is absent.
    package static let requestID = "apns-request-id"
    package static let retryAfter = "retry-after"
    package static let topic = "apns-topic"
    /// Apple's own name for an accepted message: the one to quote to Apple.
    package static let uniqueID = "apns-unique-id"
}
