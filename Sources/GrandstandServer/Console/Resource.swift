internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The pages of one noun, as a value. `Resource.routes` makes them of the JSON that the API's operations answer, and makes
/// forms into the bodies of operations.
struct Resource: Sendable {
    /// The path of the list below `/console`. The object's page is below it.
    let path: String
    /// The scope of the pages; `nil`: the operations decide.
    var scope: Contract.Scope?
    /// The names and paths of other pages. Those whose parameters this page's path lacks are left out.
    var links: KeyValuePairs<String, String> = [:]
    /// The title of the list.
    var title: @Sendable (Visit) -> String = { _ in "" }
    /// `nil`: there is no page with a list.
    var list: (@Sendable (Visit) -> Listing)?
    var detail: Detail?
    var actions: [Action] = []

    static let all: [Resource] = [
        .eventForms, .apps, .channels, .reconciliations, .keys, .webhooks, .webhookDeliveries, .auditLog,
    ]
}

/// A table of objects, with its filter.
struct Listing: Sendable {
    /// The operation that lists them; `nil`: they are in the object that the page shows.
    var operation: Contract.Operation?
    /// The member that has them.
    var member = "items"
    var heading: String?
    var caption = ""
    var nothing: String?
    /// The parameters of the query that people can set.
    var filter: [String] = []
    /// A member of the query for the list below an object.
    var query: @Sendable (Visit) -> [String: String] = { _ in [:] }
    /// Empty: the member's JSON is shown.
    var columns: [Field] = []
}

/// The page of one object.
struct Detail: Sendable {
    let operation: Contract.Operation
    /// The path below the list's, with the name of the member that identifies the object.
    var path = "/:id"
    /// `nil`: another value makes the object's page.
    var title: (@Sendable (JSONValue, Visit) -> String)?
    let facts: [Field]
    var below: [Listing] = []

    /// The name of the member that identifies the object.
    var idName: String { String(path.drop { $0 != ":" }.dropFirst()) }
}

/// A column of a list, or a fact of an object.
typealias Field = Column<(JSONValue, Visit)>

extension Column: ExpressibleByStringLiteral, ExpressibleByExtendedGraphemeClusterLiteral,
    ExpressibleByUnicodeScalarLiteral
where Record == (JSONValue, Visit) {
    init(stringLiteral name: String) { self.init(name) }
}

extension Field {
    /// A member, shown by its name and its kind.
    ///
    /// - Parameters:
    ///   - label: `nil`: the member's name.
    ///   - words: the text if there is no value.
    init(_ name: String, as label: String? = nil, else words: String = "") {
        self.init(label ?? Wording.label(name)) { object, _ in
            let pieces = Piece.member(name, object[name]).filter { !$0.isEmpty }
            return pieces.isEmpty ? [.words(words)] : pieces
        }
    }

    /// A member, shown in its own way if it has a value.
    init(_ name: String, as label: String? = nil, _ piece: @escaping @Sendable (JSONValue) -> Piece) {
        self.init(label ?? Wording.label(name)) { object, _ in
            object[name].flatMap { $0.isNull ? nil : [piece($0)] } ?? []
        }
    }

    /// A link to an object's page.
    ///
    /// - Parameter path: its last parameter is the object's member of this name, or its ID; `nil`: the object's page is
    ///   below this page.
    static func link(_ name: String, as label: String? = nil, to path: String? = nil) -> Field {
        Field(label ?? Wording.label(name)) { object, visit in
            let path = path ?? visit.path.dropFirst(Console.path.count) + "/:id"
            let id = String(path.split(separator: ":").last ?? "")
            let href = visit.fill(path, [id: object[id]?.string ?? object.text("id")])
            return [.link(object.text(name), href)]
        }
    }

    /// The apps that an object is bound to.
    static let apps = Field("bundleIds", as: "Apps", else: "all")
}

/// A form, or a button, that calls an operation.
struct Action: Sendable {
    /// The path below the list's. Actions on an object begin with the path of its page.
    let path: String
    let operation: Contract.Operation
    /// The text of the button.
    let label: String
    /// What the action does, for people.
    var words: [String] = []
    /// Members without a field.
    var hidden: Set<String> = ["bundleId"]
    /// Fields with a fixed value, form-encoded. With them, the form shows no members of the body.
    var presets = ""
    /// Whether a page of its own asks first.
    var hasPage = false
    /// The body that the form of this page begins with.
    var initial: (@Sendable (Visit) async throws -> JSONValue)?
    /// Whether the action cannot be undone, so that the key must be entered again.
    var isIrreversible = false
    /// Whether the object's page, or the list's, offers the action.
    var isOffered: @Sendable (ShownPage) -> Bool = { _ in true }
    /// What the secret in the answer is for; `nil`: there is none.
    var secretUse: String?
    /// A sentence for the next page, or the title of the secret's page.
    var notice: @Sendable (JSONValue, FormFields) -> String = { _, _ in "" }
}

extension Action {
    /// Whether it is an action on one object.
    var isOnOne: Bool { path.contains(":") }
    /// The title of the page that asks. A form that begins with a body is no question.
    var title: String { label + (initial == nil ? "?" : "") }
    /// The shape of the operation's body. A patch of an event has the members of its draft.
    var shape: RequestShape? { isPatch ? Contract.EventDraft.shape : OperationGuide(operation).shape }
    /// Whether an empty field clears its member.
    var isPatch: Bool { operation.method == "PATCH" }
}

extension String {
    /// Whether a member with this name is a time.
    fileprivate var namesTime: Bool { self == "at" || ["At", "Since", "Until"].contains(where: hasSuffix) }
}

extension Piece {
    /// A member of an answer, shown by its name and its kind.
    fileprivate static func member(_ name: String, _ value: JSONValue?) -> [Piece] {
        switch value?.kind {
        case nil, .null: []
        case .string(let text):
            switch name {
            case "state": [.state(text)]
            case "eventKey":
                [EventKey(rawValue: text).map { .link(text, ConsolePath.event($0)) } ?? .words(text)]
            case _ where name.namesTime: [RFC3339.date(text).map { .moment($0, exact: name == "at") } ?? .quoted(text)]
            case _ where name == "prefix" || name.lowercased().hasSuffix("id"): [.code(text)]
            default: [.quoted(text)]
            }
        case .number(let text): [.words(Int(text).map(Wording.number) ?? text)]
        case .bool(let isTrue): [.words(isTrue ? "yes" : "no")]
        case .array(let elements): [.quoted(elements.compactMap(\.string).joined(separator: ", "))]
        case .object(let members):
            members.filter { !$0.value.isNull }.flatMap { [.words($0.name)] + member($0.name, $0.value) }
        }
    }
}
