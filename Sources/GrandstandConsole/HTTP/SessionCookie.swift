internal import Hummingbird

/// The cookie a browser is known by: the key itself, as with every other call. No session is kept anywhere, so every
/// replica knows everybody, and a key that is revoked or expires ends what it opened at once.
struct SessionCookie: Sendable {
    static let name = "grandstand-console"
    /// Twelve hours: a shift.
    static let lifetime = 43_200

    /// The server speaks HTTPS itself.
    let isSecure: Bool

    /// The secret a request comes with.
    static func secret(in request: Request) -> String? {
        guard let value = request.cookies[name]?.value, !value.isEmpty else { return nil }
        return value
    }

    /// Signs a browser in.
    ///
    /// - Parameter secret: of a key that is valid, so a cookie may hold its characters.
    func opened(_ secret: String, for request: Request) -> Cookie { cookie(secret, Self.lifetime, request) }

    /// Signs it out.
    func closed(for request: Request) -> Cookie { cookie("", 0, request) }

    /// Scripts do not see it, other sites' pages do not send it, and it goes to the console only. A proxy that says it
    /// took the request by HTTPS makes it as careful as HTTPS of our own does.
    private func cookie(_ value: String, _ maxAge: Int, _ request: Request) -> Cookie {
        Cookie(
            name: Self.name, value: value, maxAge: maxAge, path: Console.path,
            secure: isSecure || request.headers[.xForwardedProto]?.lowercased() == "https", httpOnly: true,
            sameSite: .strict)
    }
}
