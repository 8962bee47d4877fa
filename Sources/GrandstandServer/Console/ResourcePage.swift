internal import Grandstand
internal import GrandstandContract
internal import JSON

/// A page of a noun: its list, one of its objects, or one of its forms.
struct ResourcePage: ConsolePage {
    /// A part of the page: a filter with its table, or the text of a member.
    struct Section: Sendable {
        let sectionID: String
        let sectionHeading: String?
        var filter: [FormInput] = []
        var table: Table?
        var text: String?
        /// The link to the next page of the list.
        var onward: String?
    }

    /// An action that this page offers: its form, or the link to the page that asks first.
    struct Offer: Sendable {
        var offerHeading: String?
        var offerWords: [String] = []
        var ask: Piece.Link?
        /// Where the form is sent to; `nil`: there is no form.
        var action: String?
        var button = ""
        var version: String?
        var inputs: [FormInput] = []
        var asksForKey = false
    }

    var template: String { "resource" }
    let title: String
    var links: [Piece.Link] = []
    var refusal: FormRefusal?
    /// Warnings.
    var notes: [String] = []
    /// A new secret, which is shown once only.
    var secret: String?
    var facts: [Fact] = []
    var sections: [Section] = []
    var offers: [Offer] = []
}

extension ResourcePage {
    /// The page of a problem, with the request's ID, which is also in the log.
    init(_ problem: Problem, requestID: String) {
        self.init(
            title: problem.title, links: [("Back to the console", ConsolePath.overview)],
            refusal: (problem.detail, problem.errors),
            facts: [Fact("This request's name in the log", [.code(requestID)])])
    }

    /// A form that was refused: the reason, and the form as it was typed, to be corrected and sent again.
    ///
    /// - Parameters:
    ///   - path: the address of the form.
    ///   - back: the page that contained the form.
    init(_ problem: Problem, _ form: FormFields, path: String, back: String, asksForKey: Bool) {
        let typed = form.entries.filter { !["token", "currentKey", "etag"].contains($0.name) }
        self.init(
            title: problem.title, links: [("Back, without sending", back)],
            refusal: (problem.detail, problem.errors))
        let inputs = typed.map { entry in
            let members = entry.name.split(separator: ".").map(String.init)
            return FormInput(
                name: entry.name, label: members.map(Wording.label).joined(separator: ": "),
                help: problem.errors.first { $0.pointer == PointerText.pointer(members) }?.detail, value: entry.value,
                isLong: true)
        }
        offers = [
            Offer(
                action: path, button: "Send again", version: form["etag"], inputs: inputs, asksForKey: asksForKey)
        ]
    }

    /// The page of a new secret.
    ///
    /// - Parameter secret: `nil`: the form was sent before, and the warnings say so.
    init(_ title: String, secret: String?, for purpose: String, warnings: [String], next href: String) {
        let advice = secret == nil ? [] : ["Copy the secret now: no other page shows it, now or later."]
        self.init(
            title: title, notes: advice + warnings, secret: secret,
            offers: [
                Offer(
                    offerWords: secret == nil ? [] : [purpose],
                    ask: (secret == nil ? "Go on" : "I have it: go on", href))
            ])
    }
}

extension Listing {
    /// - Parameter page: the operation's answer, or the object with the member.
    func section(_ page: JSONValue, _ visit: Visit) -> ResourcePage.Section {
        let parameters = operation.map { OperationGuide($0).parameters } ?? []
        return ResourcePage.Section(
            sectionID: operation?.id ?? member,
            sectionHeading: heading,
            filter: parameters.filter { filter.contains($0.name) }.compactMap { FormInput($0, visit.query[$0.name]) },
            table: columns.isEmpty
                ? nil : Table(caption, nothing: nothing, page.items(member).map { ($0, visit) }, columns),
            text: columns.isEmpty ? ReadableJSON.text(page[member]?.bytes ?? []) : nil,
            onward: page["nextCursor"]?.string.map { cursor in
                ConsolePath.link(visit.path, filter.map { ($0, visit.query[$0]) } + [("cursor", cursor)])
            })
    }
}

extension [Field] {
    /// The facts of an object that have a value.
    func facts(_ object: JSONValue, _ visit: Visit) -> [Fact] {
        map { Fact($0.label, $0.pieces((object, visit))) }.nonEmpty
    }
}
