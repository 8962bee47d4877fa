/// Why a request is refused, for its sender: what happened and what to do about it.
///
/// Becomes an RFC 9457 `application/problem+json` body; the HTTP status of each kind stands in GrandstandAPI's table.
package struct Problem: Error, Sendable, Equatable {
    package var kind: Kind
    /// A sentence about this occurrence that says what to do.
    package var detail: String
    /// The places in the request that are wrong, `FaultList.limit` of them at most.
    package var errors: [FieldError]
    /// Apple's refusal behind it, if any.
    package var apns: APNsRefusal?
    /// Further members of the body, e.g. `limit` and `used` of a quota, in order.
    package var members: [Member]
    /// Seconds after which the same request may succeed.
    package var retryAfter: Int?
    /// Seconds since this could last be confirmed; `nil`: it holds now.
    package var age: Int?

    /// - Parameter errors: may be more than are kept; the detail says how many are left out then.
    package init(
        _ kind: Kind, _ detail: String, errors: [FieldError] = [], apns: APNsRefusal? = nil,
        members: [(String, Value)] = [], retryAfter: Int? = nil
    ) {
        let faults = FaultList(errors)
        self.init(kind, detail, faults: faults, apns: apns, members: members, retryAfter: retryAfter)
    }

    package init(
        _ kind: Kind, _ detail: String, faults: FaultList, apns: APNsRefusal? = nil,
        members: [(String, Value)] = [], retryAfter: Int? = nil
    ) {
        self.kind = kind
        self.detail = detail + faults.note
        errors = faults.listed
        self.apns = apns
        self.members = members.map { Member(name: $0.0, value: $0.1) }
        self.retryAfter = retryAfter
    }

    /// `invalid-request` for one place in the request.
    ///
    /// - Parameter rule: what was expected there.
    package static func invalid(_ detail: String, at pointer: String, _ rule: String) -> Problem {
        Problem(.invalidRequest, detail, errors: [FieldError(pointer: pointer, detail: rule)])
    }

    /// A member of a problem's body beyond RFC 9457's own.
    package struct Member: Sendable, Equatable {
        package var name: String
        package var value: Value

        package init(name: String, value: Value) {
            self.name = name
            self.value = value
        }
    }

    /// A value of such a member.
    package enum Value: Sendable, Equatable {
        case integer(Int)
        case string(String)
    }

    /// The kinds of refusal.
    package enum Kind: String, Sendable, CaseIterable {
        case appExists = "app-exists"
        case appInUse = "app-in-use"
        case appNotFound = "app-not-found"
        case apnsRefused = "apns-refused"
        case apnsUnanswered = "apns-unanswered"
        case bodyTooLarge = "body-too-large"
        case broadcastNotFound = "broadcast-not-found"
        case broadcastSent = "broadcast-sent"
        case calendarNotFound = "calendar-not-found"
        /// The file that a calendar is fetched from cannot be had.
        case calendarUnavailable = "calendar-unavailable"
        case channelExists = "channel-exists"
        case channelInUse = "channel-in-use"
        case channelNotFound = "channel-not-found"
        case channelPending = "channel-pending"
        case credentialsMissing = "credentials-missing"
        case eventEnded = "event-ended"
        case eventNotFound = "event-not-found"
        /// `event-ended` said to an app that looks the event up: gone, rather than in conflict.
        case eventOver
        case expirationNotAllowed = "expiration-not-allowed"
        case forbidden
        /// The first request with this Idempotency-Key is still being carried out.
        case idempotencyInProgress = "idempotency-in-progress"
        case idempotencyMismatch = "idempotency-mismatch"
        case installationNotFound = "installation-not-found"
        case internalError = "internal-error"
        case invalidRequest = "invalid-request"
        case keyNotFound = "key-not-found"
        case malformedJSON = "malformed-json"
        case methodNotAllowed = "method-not-allowed"
        case notFound = "not-found"
        case payloadTooLarge = "payload-too-large"
        case pushNotFound = "push-not-found"
        case pushSent = "push-sent"
        case quotaExhausted = "quota-exhausted"
        case rateLimited = "rate-limited"
        case reconciliationNotFound = "reconciliation-not-found"
        case reconciliationRunning = "reconciliation-running"
        /// The app's report of its installation is older than the known state.
        case staleInstallation = "stale-installation"
        case storeUnavailable = "store-unavailable"
        case streamUnavailable = "stream-unavailable"
        case unauthenticated
        case unknownField = "unknown-field"
        case unsupportedMediaType = "unsupported-media-type"
        case webhookDeliveryNotFound = "webhook-delivery-not-found"
        /// The version that is there is not the one the writer asked for.
        case versionMismatch = "version-mismatch"
        /// As many webhooks as there may be.
        case webhookLimit = "webhook-limit"
        case webhookNotFound = "webhook-not-found"
        case wrongInstallationSecret = "wrong-installation-secret"

        /// The last part of the problem's `type`; it never changes.
        package var slug: String { self == .eventOver ? Self.eventEnded.rawValue : rawValue }

        /// A short constant sentence for people.
        package var title: String {
            switch self {
            case .appExists: "An app with this bundle ID exists"
            case .appInUse: "The app still has channels"
            case .appNotFound: "No such app"
            case .apnsRefused: "APNs refused the call"
            case .apnsUnanswered: "APNs did not answer"
            case .bodyTooLarge: "The request body is too large"
            case .broadcastNotFound: "No such broadcast"
            case .broadcastSent: "The broadcast was sent already"
            case .calendarNotFound: "No such calendar"
            case .calendarUnavailable: "The calendar's file cannot be fetched"
            case .channelExists: "The channel is managed already"
            case .channelInUse: "A live event needs this channel"
            case .channelNotFound: "No such channel"
            case .channelPending: "The channel is not there yet"
            case .credentialsMissing: "The key file cannot be used"
            case .eventEnded, .eventOver: "The event is over"
            case .eventNotFound: "No such event"
            case .expirationNotAllowed: "This expiration is not allowed"
            case .forbidden: "The API key does not allow this"
            case .idempotencyInProgress: "The first request is still being carried out"
            case .idempotencyMismatch: "The Idempotency-Key was used for another request"
            case .installationNotFound: "No such installation"
            case .internalError: "Something went wrong here"
            case .invalidRequest: "The request is not valid"
            case .keyNotFound: "No such API key"
            case .malformedJSON: "The body cannot be read as JSON"
            case .methodNotAllowed: "The method is not allowed here"
            case .notFound: "No such path"
            case .payloadTooLarge: "The message is too large for APNs"
            case .rateLimited: "Too many requests"
            case .pushNotFound: "No such push"
            case .pushSent: "The push was sent already"
            case .quotaExhausted: "The app has no channel left"
            case .reconciliationNotFound: "No such reconciliation"
            case .reconciliationRunning: "A reconciliation is running"
            case .staleInstallation: "A newer state of the installation is known"
            case .storeUnavailable: "The database cannot be used now"
            case .streamUnavailable: "No stream can be opened now"
            case .unauthenticated: "An API key is needed"
            case .unknownField: "The request has an unknown field"
            case .unsupportedMediaType: "The body has the wrong media type"
            case .webhookDeliveryNotFound: "No such delivery"
            case .versionMismatch: "It was changed meanwhile"
            case .webhookLimit: "No more webhooks"
            case .webhookNotFound: "No such webhook"
            case .wrongInstallationSecret: "This is another installation's"
            }
        }
    }
}

extension Problem: CustomStringConvertible {
    /// For logs: the slug and the detail, the places that are wrong, Apple's reason.
    package var description: String {
        let places = errors.map { "\($0.pointer): \($0.detail)" }
        let apple = apns.map { ["APNs: \($0.status) \($0.reason)"] } ?? []
        return (["\(kind.slug): \(detail)"] + places + apple).joined(separator: "; ")
    }
}

/// One place in a request and what is wrong with it.
package struct FieldError: Sendable, Equatable {
    /// RFC 6901 JSON Pointer into the body; a name such as `limit` for a query parameter.
    package var pointer: String
    package var detail: String

    package init(pointer: String, detail: String) {
        self.pointer = pointer
        self.detail = detail
    }
}
