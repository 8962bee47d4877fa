package import Grandstand
package import Hummingbird
internal import NIOCore

/// What a request carries through the API.
package struct APIContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// Names the request in logs and problems.
    package let requestID: String
    /// Whose key it was; `nil` on routes without authentication.
    package var key: APIKey?

    package init(source: Source) {
        coreContext = .init(source: source)
        requestID = String(UInt64.random(in: .min ... .max), radix: 16)
        key = nil
    }

    /// Whom the audit log names for what this request does.
    var actor: AuditActor { key.map(AuditActor.init) ?? .server }

    /// Bodies larger than this are refused unless a route allows more.
    package var maxUploadSize: Int { 64 * 1024 }
}
