internal import HTTPTypes
internal import Hummingbird

/// Whether a form that is sent here comes from a page of ours: other sites must not sign anybody in or out.
enum FormOrigin {
    /// - Parameters:
    ///   - site: `Sec-Fetch-Site`, which browsers send over HTTPS and to this machine.
    ///   - origin: `Origin`, which they send with every POST.
    ///   - authority: the host and port that the request was for.
    ///   - isHTTPS: whether it is known that the page came by HTTPS: one that did not is another then.
    static func isOurs(site: String?, origin: String?, authority: String?, isHTTPS: Bool = false) -> Bool {
        if let site { return site == "same-origin" || site == "none" }
        // No browser: there is no user whose cookie could be misused.
        guard let origin else { return true }
        let schemes = isHTTPS ? ["https://"] : ["https://", "http://"]
        guard let authority, let scheme = schemes.first(where: origin.hasPrefix) else { return false }
        return origin.dropFirst(scheme.count).lowercased() == authority.lowercased()
    }

    static func isOurs(_ request: Request) -> Bool {
        isOurs(
            site: request.headers[.secFetchSite], origin: request.headers[.origin],
            authority: request.head.authority, isHTTPS: request.cameByHTTPS)
    }
}
