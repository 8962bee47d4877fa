internal import Grandstand
internal import Testing

struct WebhookURLTests {
    @Test(arguments: [
        ("https://Hooks.Example.com:8443/a/b?c=d&e=%20", "hooks.example.com:8443"),
        ("https://example.com", "example.com"), ("http://example.com?x", "example.com"),
        ("https://example.com:443/", "example.com"), ("https://[2001:DB8::1]/", "[2001:db8::1]"),
        ("http://[::1]:8080", "[::1]:8080"),
    ])
    func `a URL names its host, and its port if that is not the scheme's`(text: String, authority: String) throws {
        let url = try #require(WebhookURL(rawValue: text))
        #expect(url.authority == authority)
        #expect((url.scheme == .https) == text.hasPrefix("https:"))
    }

    /// In some of these URLs, different parsers read different hosts. Others would break the request line, or are not
    /// valid URLs.
    @Test(arguments: [
        "", "example.com", "//example.com", "ftp://example.com", "https:/example.com", "https://", "https:///path",
        "https://user@example.com", "https://a:b@example.com", "https://example.com@10.0.0.1/",
        "https://example.com\\@10.0.0.1/", "https://example.com#@10.0.0.1", "https://example.com/ x",
        "https://exa mple.com", "https://example.com/\r\nHost: x", "https://example.com/\u{0}", "https://exämple.com",
        "https://example.com:0", "https://example.com:65536", "https://example.com:", "https://example.com:+1",
        "https://[::1", "https://::1/", "https://[example.com]/", "https://[1.2.3.4]/", "https://.example.com",
        "https://a..b", "https://%31%32%37.0.0.1/", "https://2130706433/", "https://0x7f.1/", "https://127.1/",
        "https://0x7f000001/",
    ])
    func `invalid URLs are refused`(text: String) { #expect(WebhookURL(rawValue: text) == nil) }

    @Test func `http and non-public addresses need permission`() throws {
        let plain = try #require(WebhookURL(rawValue: "http://example.com"))
        #expect(NetworkGuard().fault(of: plain)?.contains("GRANDSTAND_WEBHOOK_HTTP") ?? false)
        #expect(NetworkGuard(allowsPlainHTTP: true).fault(of: plain) == nil)
        for text in ["https://169.254.169.254/latest", "https://LOCALHOST", "https://[::1]/"] {
            let url = try #require(WebhookURL(rawValue: text))
            #expect(NetworkGuard().fault(of: url)?.contains("GRANDSTAND_WEBHOOK_NETWORKS") ?? false, "\(text)")
        }
    }
}
