// Generated from openapi.yaml by `make contract`. Do not edit.

extension Contract {
    /// The kinds of refusals: the last part of a problem's type.
    public enum ProblemKind: String, Sendable, Hashable, CaseIterable {
        /// APNs refused the call. apns has its answer.
        case apnsRefused = "apns-refused"
        /// APNs did not answer, so it may have made the change. id names a channel whose creation is not confirmed.
        case apnsUnanswered = "apns-unanswered"
        /// An app is registered whose bundle ID differs in capitals only, or the app is being deleted.
        case appExists = "app-exists"
        /// The app still has channels. Delete them first.
        case appInUse = "app-in-use"
        /// No app of this bundle ID is registered.
        case appNotFound = "app-not-found"
        /// The body has too many bytes or JSON values.
        case bodyTooLarge = "body-too-large"
        /// There is no such broadcast, or it was deleted with the history.
        case broadcastNotFound = "broadcast-not-found"
        /// APNs has accepted some of the broadcast or may have, so it cannot be withdrawn.
        case broadcastSent = "broadcast-sent"
        /// The channel is already managed, or the event already has a channel for this audience.
        case channelExists = "channel-exists"
        /// A live event needs the channel, or the channel belongs to an event.
        case channelInUse = "channel-in-use"
        /// There is no such channel. If APNs said so, apns has its answer.
        case channelNotFound = "channel-not-found"
        /// The channel does not exist yet. Retry-After says when to ask again.
        case channelPending = "channel-pending"
        /// Live events use the content type. detail names one of them.
        case contentInUse = "content-in-use"
        /// A version of the app cannot decode the contentState. errors names the places and the versions.
        case contentMismatch = "content-mismatch"
        /// The app has no content type of this name.
        case contentNotFound = "content-not-found"
        /// The key file that signs for the app is missing or cannot be read.
        case credentialsMissing = "credentials-missing"
        /// The event or channel got its end: 410 for lookups, else 409.
        case eventEnded = "event-ended"
        /// There is no such event, or it has no audience of the app.
        case eventNotFound = "event-not-found"
        /// A channel of the event does not allow this apnsExpiration.
        case expirationNotAllowed = "expiration-not-allowed"
        /// The key lacks the scope, or the resource belongs to an app that the key cannot access.
        case forbidden
        /// The first request with this Idempotency-Key is still being carried out.
        case idempotencyInProgress = "idempotency-in-progress"
        /// This Idempotency-Key came with another request in the last 24 hours.
        case idempotencyMismatch = "idempotency-mismatch"
        /// There is no such installation. Register it first.
        case installationNotFound = "installation-not-found"
        /// A fault of the server. Its log names the requestId.
        case internalError = "internal-error"
        /// A member, parameter or header is wrong. errors names the places.
        case invalidRequest = "invalid-request"
        /// There is no such key, or it is revoked, expired or replaced.
        case keyNotFound = "key-not-found"
        /// The body is not JSON.
        case malformedJson = "malformed-json"
        /// The path does not have this method. Allow lists its methods.
        case methodNotAllowed = "method-not-allowed"
        /// There is no such path.
        case notFound = "not-found"
        /// The message would be larger than APNs allows.
        case payloadTooLarge = "payload-too-large"
        /// The app has reached its limit of channels, or Apple creates no more for it.
        case quotaExhausted = "quota-exhausted"
        /// Too many requests, wrong keys, wrong secrets, new installations or new tokens, or too much data from
        /// devices; with 503: the server has no memory left for another request's body.
        case rateLimited = "rate-limited"
        /// There is no such report.
        case reconciliationNotFound = "reconciliation-not-found"
        /// A reconciliation of this app and environment is running.
        case reconciliationRunning = "reconciliation-running"
        /// A newer state of the installation is known. Nothing was changed.
        case staleInstallation = "stale-installation"
        /// A state of the event with this sequence, or a higher one, or with a higher sequenceEpoch was reported
        /// before. sequence is the last one.
        case staleState = "stale-state"
        /// The database cannot be used now. Try again.
        case storeUnavailable = "store-unavailable"
        /// No key was sent, or it is unknown, expired or revoked.
        case unauthenticated
        /// The body or the query has a member that does not exist. errors names it.
        case unknownField = "unknown-field"
        /// The body's Content-Type is not one that this path takes.
        case unsupportedMediaType = "unsupported-media-type"
        /// The event has no audience of this variant for the app. variants has those that it has.
        case variantNotFound = "variant-not-found"
        /// The resource was changed since you read it, or it exists although the request has If-None-Match.
        case versionMismatch = "version-mismatch"
        /// There is no such delivery, or it was deleted with the history.
        case webhookDeliveryNotFound = "webhook-delivery-not-found"
        /// The server has the most webhooks that are allowed.
        case webhookLimit = "webhook-limit"
        /// There is no such webhook.
        case webhookNotFound = "webhook-not-found"
        /// The secret is not this installation's.
        case wrongInstallationSecret = "wrong-installation-secret"

        /// The title of problems of this kind.
        public var title: String {
            switch self {
            case .apnsRefused: "APNs refused the call"
            case .apnsUnanswered: "APNs did not answer"
            case .appExists: "An app with this bundle ID exists"
            case .appInUse: "The app still has channels"
            case .appNotFound: "No such app"
            case .bodyTooLarge: "The request body is too large"
            case .broadcastNotFound: "No such broadcast"
            case .broadcastSent: "The broadcast was sent already"
            case .channelExists: "The channel is managed already"
            case .channelInUse: "A live event needs this channel"
            case .channelNotFound: "No such channel"
            case .channelPending: "The channel is not there yet"
            case .contentInUse: "Live events use this content type"
            case .contentMismatch: "The content does not fit the app"
            case .contentNotFound: "No such content type"
            case .credentialsMissing: "The key file cannot be used"
            case .eventEnded: "The event is over"
            case .eventNotFound: "No such event"
            case .expirationNotAllowed: "This expiration is not allowed"
            case .forbidden: "The API key does not allow this"
            case .idempotencyInProgress: "The first request is still being carried out"
            case .idempotencyMismatch: "The Idempotency-Key was used for another request"
            case .installationNotFound: "No such installation"
            case .internalError: "Something went wrong here"
            case .invalidRequest: "The request is not valid"
            case .keyNotFound: "No such API key"
            case .malformedJson: "The body cannot be read as JSON"
            case .methodNotAllowed: "The method is not allowed here"
            case .notFound: "No such path"
            case .payloadTooLarge: "The message is too large for APNs"
            case .quotaExhausted: "The app has no channel left"
            case .rateLimited: "Too many requests"
            case .reconciliationNotFound: "No such reconciliation"
            case .reconciliationRunning: "A reconciliation is running"
            case .staleInstallation: "A newer state of the installation is known"
            case .staleState: "A later state was told before"
            case .storeUnavailable: "The database cannot be used now"
            case .unauthenticated: "An API key is needed"
            case .unknownField: "The request has an unknown field"
            case .unsupportedMediaType: "The body has the wrong media type"
            case .variantNotFound: "The event has no such variant"
            case .versionMismatch: "It was changed meanwhile"
            case .webhookDeliveryNotFound: "No such delivery"
            case .webhookLimit: "No more webhooks"
            case .webhookNotFound: "No such webhook"
            case .wrongInstallationSecret: "This is another installation's"
            }
        }

        /// The HTTP status of problems of this kind.
        public var status: Int {
            switch self {
            case .malformedJson: 400
            case .unauthenticated: 401
            case .forbidden, .wrongInstallationSecret: 403
            case .appNotFound, .broadcastNotFound, .channelNotFound, .channelPending, .contentNotFound, .eventNotFound,
                .installationNotFound, .keyNotFound, .notFound, .reconciliationNotFound, .variantNotFound,
                .webhookDeliveryNotFound, .webhookNotFound:
                404
            case .methodNotAllowed: 405
            case .appExists, .appInUse, .broadcastSent, .channelExists, .channelInUse, .contentInUse,
                .credentialsMissing, .eventEnded, .idempotencyInProgress, .quotaExhausted, .reconciliationRunning,
                .staleInstallation, .staleState, .webhookLimit:
                409
            case .versionMismatch: 412
            case .bodyTooLarge, .payloadTooLarge: 413
            case .unsupportedMediaType: 415
            case .contentMismatch, .expirationNotAllowed, .idempotencyMismatch, .invalidRequest, .unknownField: 422
            case .rateLimited: 429
            case .internalError: 500
            case .apnsRefused: 502
            case .storeUnavailable: 503
            case .apnsUnanswered: 504
            }
        }
    }
}
