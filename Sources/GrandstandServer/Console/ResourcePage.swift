internal import Grandstand
internal import GrandstandContract
internal import JSON

/// A page of a noun: its list, one of its objects, or one of its forms.
struct ResourcePage: ConsolePage {
    struct Note: Sendable {
        /// `warning`, `critical`
        let noteLevel: String
        var noteMark: String?
        let noteText: String
    }

    /// A part of the page: a filter with its table, or the text of a member.
    struct Section: Sendable {
        let sectionID: String
        let sectionHeading: String?
        var filter: [FormInput] = []
        var table: Table?
        var text: String?
        var pager: Pager?
    }

    /// An action that this page offers: its form, or the link to the page that asks first.
    struct Offer: Sendable {
        var offerHeading: String?
        let offerWords: [String]
        var ask: Piece.Link?
        var form: Form?
    }

    struct Form: Sendable {
        let action: String
        let button: String
        let version: String?
        let groups: [FormGroup]
        let flags: [FormInput]
        let asksForKey: Bool
        let isPlain: Bool
    }

    var template: TemplateName { .resource }
    let title: String
    var refresh: Int?
    var links: [Piece.Link] = []
    var notes: [Note] = []
    var facts: [Fact] = []
    var sections: [Section] = []
    var offers: [Offer] = []
    var commands: [Command] = []
}

extension Listing {
    /// - Parameter page: the operation's answer, or the object with the member.
    func section(_ page: JSONValue, _ visit: Visit) -> ResourcePage.Section {
        switch source {
        case .operation(let operation):
            ResourcePage.Section(
                sectionID: operation.id, sectionHeading: heading,
                filter: filter.compactMap { FormInput($0, visit.query[$0.name].flatMap { .text($0) }) },
                table: table(page.items("items"), visit),
                pager: Pager(
                    visit, query: filter.map { (name: $0.name, value: visit.query[$0.name]) },
                    nextCursor: page["nextCursor"]?.string))
        case .member(let name):
            ResourcePage.Section(
                sectionID: name,
                sectionHeading: heading.map { isCounted ? "\($0) (\(page.items(name).count))" : $0 },
                table: columns.isEmpty ? nil : table(page.items(name), visit),
                text: columns.isEmpty ? ReadableJSON.text(page[name]?.bytes ?? []) : nil)
        }
    }

    private func table(_ items: [JSONValue], _ visit: Visit) -> Table {
        Table(
            caption, nothing: nothing, items,
            columns.map { field in Column(field.label, isNumber: field.isNumber) { field.pieces($0, visit) } })
    }
}

extension [Field] {
    /// The facts of an object that have a value.
    func facts(_ object: JSONValue, _ visit: Visit) -> [Fact] {
        map { Fact($0.label, $0.pieces(object, visit)) }.nonEmpty
    }
}
