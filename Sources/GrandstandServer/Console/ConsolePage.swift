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
    /// Seconds after which the page reloads itself; `nil`: never.
    var refresh: Int? { get }
}

extension ConsolePage {
    var refresh: Int? { nil }
}

/// The parts of a page that all pages share.
struct Frame: Sendable {
    /// The key that is signed in; `nil` if nobody is signed in.
    let visitor: Visitor?
    let refresh: Refresh?
    /// A sentence about the action that was performed just before.
    let notice: String?
    /// The token of every form.
    var token = ""
    let madeAt: Moment
}

/// The key that is signed in, and the pages that this key may open.
struct Visitor: Sendable {
    let keyName: String
    /// The apps that the key is bound to; `nil`: all.
    let boundTo: String?
    /// Links to the pages that the key's scopes allow.
    let links: [Choice]

    /// - Parameter path: the path of the page that is shown.
    init(key: APIKey, path: String) {
        keyName = key.name
        boundTo = key.reach == .all ? nil : key.reach.text
        let all: [(label: String, href: String, scopes: [Contract.Scope])] = [
            ("Overview", ConsolePath.overview, [.operate]), ("Events", ConsolePath.events, [.organise]),
            ("Apps", ConsolePath.apps, [.operate]),
            ("Webhooks", ConsolePath.webhooks, [.operate, .organise]), ("Keys", ConsolePath.keys, [.admin]),
            ("Audit log", ConsolePath.auditLog, [.operate]),
        ]
        links = all.filter { $0.scopes.contains(where: key.holds) }.map { link in
            let isBelow = link.href != ConsolePath.overview && path.hasPrefix(link.href + "/")
            return Choice(link.href, label: link.label, isChosen: path == link.href || isBelow)
        }
    }
}

/// The reload interval of a page, and the link that turns reloading off. Readers who need more time must be able to
/// stop it.
struct Refresh: Sendable {
    let seconds: Int
    /// The reload interval of a browser without scripts, where a reload empties the forms.
    let secondsWithoutScript: Int
    let isOff: Bool
    /// The link that turns the refresh off, or on again.
    let otherwise: String

    init(seconds: Int, path: String, query: String?, isOff: Bool) {
        self.seconds = seconds
        secondsWithoutScript = max(5, seconds)
        self.isOff = isOff
        let kept = (query ?? "").split(separator: "&").filter { $0 != "refresh=off" }.map(String.init)
        let changed = isOff ? kept : kept + ["refresh=off"]
        otherwise = path + (changed.isEmpty ? "" : "?" + changed.joined(separator: "&"))
    }
}

/// The parsed templates of the pages.
struct ConsoleTemplates: Sendable {
    /// The texts by name. Each is a file `NAME.mustache`, compiled into the binary.
    static let texts = EmbeddedFiles.texts.reduce(into: [String: String]()) { texts, file in
        if file.key.hasSuffix(".mustache") { texts[String(file.key.dropLast(9))] = file.value }
    }

    private let library: MustacheLibrary

    /// Parses all templates, so that a mistake shows when the server starts and not when somebody opens a page.
    init() throws {
        MustacheContentTypes.register(HTMLText(), named: HTMLText.name)
        // Each template sets its content type, because a partial does not inherit it.
        let type = "{{% CONTENT_TYPE: \(HTMLText.name)}}"
        library = MustacheLibrary(templates: try Self.texts.mapValues { try MustacheTemplate(string: type + $0) })
    }

    /// A whole page.
    func html(_ page: any ConsolePage, _ frame: Frame) -> String {
        // Never `nil`: a test renders all pages.
        library.render(Sheet(frame: frame, page: page), withTemplate: page.template) ?? ""
    }
}

/// The data of a template: `frame` for the parts that all pages share, `page` for the rest.
struct Sheet {
    let frame: Frame
    let page: any ConsolePage
}

/// Escapes text for HTML. Mustache's own escaping compares Swift characters. To Swift, a quote followed by a combining
/// accent is one character, so Mustache does not escape the quote. But browsers read Unicode scalars and see a quote.
struct HTMLText: MustacheContentType {
    static let name = "CONSOLE"

    /// Escapes markup. Characters that are invisible or change the direction of the text are shown by their numbers.
    func escapeText(_ text: String) -> String {
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "&": escaped += "&amp;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default:
                if Self.isDeceptive(scalar) {
                    escaped += "[U+" + String(scalar.value, radix: 16, uppercase: true) + "]"
                } else {
                    escaped.unicodeScalars.append(scalar)
                }
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
