package import Grandstand
package import HTTPTypes

extension Problem.Kind {
    /// The HTTP status of each kind: the one table.
    package var status: HTTPResponse.Status {
        switch self {
        case .malformedJSON: .badRequest
        case .unauthenticated: .unauthorized
        case .forbidden, .wrongInstallationSecret: .forbidden
        case .appNotFound, .broadcastNotFound, .calendarNotFound, .channelNotFound, .channelPending, .eventNotFound,
            .installationNotFound, .keyNotFound, .notFound, .pushNotFound, .reconciliationNotFound,
            .webhookDeliveryNotFound, .webhookNotFound:
            .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .appExists, .appInUse, .broadcastSent, .channelExists, .channelInUse, .credentialsMissing, .eventEnded,
            .idempotencyInProgress, .pushSent, .quotaExhausted, .reconciliationRunning, .staleInstallation,
            .webhookLimit:
            .conflict
        case .eventOver: .gone
        case .versionMismatch: .preconditionFailed
        case .bodyTooLarge, .payloadTooLarge: .contentTooLarge
        case .unsupportedMediaType: .unsupportedMediaType
        case .expirationNotAllowed, .idempotencyMismatch, .invalidRequest, .unknownField: .unprocessableContent
        case .rateLimited: .tooManyRequests
        case .internalError: .internalServerError
        case .apnsRefused, .calendarUnavailable: .badGateway
        case .storeUnavailable, .streamUnavailable: .serviceUnavailable
        case .apnsUnanswered: .gatewayTimeout
        }
    }
}
