/// The names of APNs' headers, in lower case as HTTP/2 requires.
package enum APNsHeader {
    package static let authorization = "authorization"
    package static let channelID = "apns-channel-id"
    package static let collapseID = "apns-collapse-id"
    package static let contentType = "content-type"
    package static let expiration = "apns-expiration"
    /// The ID of a device push. Broadcasts and management calls use `requestID`.
    package static let id = "apns-id"
    package static let priority = "apns-priority"
    package static let pushType = "apns-push-type"
    /// A UUID in lower case. APNs returns it in the answer, and makes one if the request has none.
    package static let requestID = "apns-request-id"
    package static let retryAfter = "retry-after"
    package static let topic = "apns-topic"
    /// Apple's ID of an accepted message. Use it when you report a problem to Apple.
    package static let uniqueID = "apns-unique-id"
}
