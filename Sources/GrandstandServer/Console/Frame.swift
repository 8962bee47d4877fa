internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// The parts of a page that all pages share.
struct Frame: Sendable {
    let title: String
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
