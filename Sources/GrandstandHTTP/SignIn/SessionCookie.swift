internal import Hummingbird

/// The cookies of a browser that is signed in: the session's secret, and a notice for the next page.
struct SessionCookie: Sendable {
    static let name = "grandstand-session"
    static let noticeName = "grandstand-notice"
    /// What builds before sessions kept the key itself in.
    static let formerName = "grandstand-console"
    /// A notice is for the page that follows at once.
    static let noticeLifetime = 60

    /// The server speaks HTTPS itself.
    let isSecure: Bool

    static func value(_ name: String, in request: Request) -> String? {
        guard let value = request.cookies[name]?.value, !value.isEmpty else { return nil }
        return value
    }

    /// A cookie, or its end: an empty value with no age.
    ///
    /// Scripts do not see it, other sites' pages do not send it, and it goes to the console only. A proxy that says it
    /// took the request by HTTPS makes it as careful as HTTPS of our own does.
    func cookie(_ name: String, _ value: String, maxAge: Int, for request: Request) -> Cookie {
        Cookie(
            name: name, value: value, maxAge: maxAge, path: Console.path,
            secure: isSecure || request.cameByHTTPS, httpOnly: true,
            sameSite: .strict)
    }
}
