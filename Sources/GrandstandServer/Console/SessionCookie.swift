internal import Hummingbird

/// The cookies of a browser that is signed in: the session's secret, and a notice for the next page.
struct SessionCookie: Sendable {
    static let name = "grandstand-session"
    static let noticeName = "grandstand-notice"
    /// The lifetime of the notice's cookie in seconds. It is short, because the notice is for the page that follows
    /// immediately.
    static let noticeLifetime = 60

    /// Whether the server itself speaks HTTPS.
    let isSecure: Bool

    static func value(_ name: String, in request: Request) -> String? {
        guard let value = request.cookies[name]?.value, !value.isEmpty else { return nil }
        return value
    }

    /// A cookie; an empty value with the age 0 deletes it.
    ///
    /// Scripts cannot read it, other sites' pages do not send it, and browsers send it to the console only. If this
    /// server or a proxy in front of it uses HTTPS, browsers never send it over plain HTTP.
    func cookie(_ name: String, _ value: String, maxAge: Int, for request: Request) -> Cookie {
        Cookie(
            name: name, value: value, maxAge: maxAge, path: Console.path,
            secure: isSecure || request.cameByHTTPS, httpOnly: true,
            sameSite: .strict)
    }
}
