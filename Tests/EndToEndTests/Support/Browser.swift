internal import Foundation
internal import GrandstandTestKit

/// A browser as far as the console needs one: it keeps the console's cookie, follows no redirects, and shows header
/// fields as they came. Each request has a connection of its own.
struct Browser: Sendable {
    let url: String
    /// What the browser sends as the console's cookie.
    var cookie: String?
    /// The header fields that are sent with every request.
    var headers: [String] = []

    struct Answer: Sendable {
        let status: Int
        let head: [String]
        let body: String

        /// The value of the first field of that name.
        func header(_ name: String) -> String? {
            let prefix = name.lowercased() + ": "
            return head.first { $0.lowercased().hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
        }

        /// The commands that the page shows, as a person copies them.
        var commands: [String] {
            body.components(separatedBy: #"<code class="command">"#).dropFirst().compactMap { part in
                part.components(separatedBy: "</code>").first
            }
        }
    }

    func get(_ path: String) async throws -> Answer {
        try await exchange("GET \(path) HTTP/1.1", [], "")
    }

    func head(_ path: String) async throws -> Answer { try await exchange("HEAD \(path) HTTP/1.1", [], "") }

    func post(_ path: String, _ form: [(name: String, value: String)] = []) async throws -> Answer {
        let body = form.map { "\($0.name)=\($0.value.query)" }.joined(separator: "&")
        return try await exchange(
            "POST \(path) HTTP/1.1",
            ["Content-Type: application/x-www-form-urlencoded", "Content-Length: \(body.utf8.count)"], body)
    }

    /// The same browser, signed in with a key.
    func signedIn(with secret: String?) async throws -> Browser {
        let answer = try await post("/console/sign-in", [("key", secret ?? "")])
        guard answer.status == 303, let field = answer.header("set-cookie"),
            let pair = field.split(separator: ";").first
        else { throw NeverHappened(what: "signed in; instead: \(answer.status) \(answer.body)") }
        var browser = self
        browser.cookie = String(pair)
        return browser
    }

    private func exchange(_ line: String, _ fields: [String], _ body: String) async throws -> Answer {
        let host = url.replacingOccurrences(of: "http://", with: "")
        let all =
            [line, "Host: \(host)", "Connection: close"] + headers + fields + (cookie.map { ["Cookie: \($0)"] } ?? [])
        let peer = try Peer(url)
        peer.send(all.joined(separator: "\r\n") + "\r\n\r\n" + body)
        let text = await peer.untilClosed()
        let parts = text.components(separatedBy: "\r\n\r\n")
        let head = parts[0].components(separatedBy: "\r\n")
        guard let status = head.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw NeverHappened(what: "an answer to \(line); instead: \(text)")
        }
        return Answer(status: status, head: head, body: parts.dropFirst().joined(separator: "\r\n\r\n"))
    }
}

extension String {
    /// The text, escaped as a value in a form.
    fileprivate var query: String { addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? self }
}
