internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Mustache

/// The data of one page. Templates read its stored properties by name. If a nested value has no property with the name
/// that the template uses, Mustache looks for this name in the enclosing values, so each property that may be `nil`
/// needs a unique name.
///
/// With scripts, only the elements marked `data-live="name"` are replaced when the page is fetched again.
protocol ConsolePage: Sendable {
    /// The template's file, without `.mustache`.
    var template: String { get }
    var title: String { get }
    /// Seconds after which the page's script fetches the page again; `nil`: never.
    var refresh: Int? { get }
}

extension ConsolePage {
    var refresh: Int? { nil }
}

/// The data of a template: `page`, and what all pages share.
struct Frame: Sendable {
    let page: any ConsolePage
    /// The name of the key that is signed in; `nil` if nobody is signed in.
    let keyName: String?
    /// Links to the pages that the key's scopes allow.
    let links: [Choice]
    /// Seconds after which the page's script fetches the page again; `nil`: never.
    let seconds: Int?
    /// A sentence about the action that was performed just before.
    let notice: String?
    /// The token of every form.
    let token: String
    let madeAt: Moment

    /// - Parameters:
    ///   - path: the path of the page that is shown, or that people came from.
    ///   - isLive: whether the page can be fetched again. The answer to a form cannot.
    init(_ page: any ConsolePage, _ signedIn: SignedIn?, path: String, isLive: Bool, now: Date) {
        self.page = page
        let key = signedIn?.key
        keyName = key?.name
        let all: [(label: String, path: String, scopes: [Contract.Scope])] = [
            ("Overview", "", [.operate]), ("Events", "/events", [.organise]), ("Apps", "/apps", [.operate]),
            ("Webhooks", "/webhooks", [.operate, .organise]), ("Keys", "/keys", [.admin]),
            ("Audit log", "/audit-log", [.operate]),
        ]
        links = all.filter { link in link.scopes.contains { key?.holds($0) == true } }.map { link in
            let href = Console.path + link.path
            let isChosen = path == href || !link.path.isEmpty && path.hasPrefix(href + "/")
            return Choice(href, label: link.label, isChosen: isChosen)
        }
        seconds = isLive ? page.refresh : nil
        notice = signedIn?.notice
        token = signedIn?.session.formToken() ?? ""
        madeAt = Moment(now, exact: true)
    }
}

/// Escapes text for HTML. Mustache's own escaping compares Swift characters. To Swift, a quote followed by a combining
/// accent is one character, so Mustache does not escape the quote. But browsers read Unicode scalars and see a quote.
struct HTMLText: MustacheContentType {
    static let name = "CONSOLE"

    /// Escapes markup. Characters that are invisible or change the direction of the text are shown by their numbers.
    func escapeText(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "&": escaped += "&amp;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case _ where Self.isDeceptive(scalar):
                escaped += "[U+" + String(scalar.value, radix: 16, uppercase: true) + "]"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Control characters except tab and line feed, separators of lines and paragraphs, invisible characters such as
    /// U+200B, and characters that embed, override or isolate the text's direction (Unicode TR9, 2.1 to 2.4).
    static func isDeceptive(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0..<0x20, 0x7F..<0xA0, 0x200B, 0x2028, 0x2029, 0x202A...0x202E, 0x2060, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }
}
