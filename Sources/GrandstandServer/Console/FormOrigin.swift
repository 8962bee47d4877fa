internal import HTTPTypes
internal import Hummingbird

/// Checks that a form is sent from a page of this server, because other sites must not sign anybody in or out.
enum FormOrigin {
    /// - Parameters:
    ///   - site: `Sec-Fetch-Site`, which browsers send over HTTPS and to localhost.
    ///   - origin: `Origin`, which browsers send with every POST.
    ///   - authority: the host and port of the request.
    ///   - isHTTPS: whether the page is known to be from HTTPS. If it is, an origin with `http` is another site.
    static func isOurs(site: String?, origin: String?, authority: String?, isHTTPS: Bool = false) -> Bool {
        if let site { return site == "same-origin" || site == "none" }
        // A client without `Origin` is not a browser, so there is no user whose cookie could be misused.
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
