internal import Grandstand
internal import JSON
internal import Mustache

/// The remaining work for filling one template.
final class PreviewBudget {
    private var left: Int
    /// The cost of one pass of a section.
    private let pass: Int
    /// Whether something was left out because the work was used up.
    private(set) var isSpent = false

    init(work: Int, pass: Int) {
        left = work
        self.pass = pass
    }

    func takePass() -> Bool { take(pass) }

    /// - Returns: whether there was enough left. After the first `false`, nothing is left.
    func take(_ work: Int) -> Bool {
        left -= work + 1
        if left < 0 { isSpent = true }
        return !isSpent
    }
}

/// A value of a content, as Mustache reads it, within a budget.
struct PreviewValue: MustacheParent, MustacheCustomRenderable {
    private let value: JSONValue
    private let budget: PreviewBudget

    /// - Returns: a value of a type that Mustache treats correctly.
    static func shown(_ value: JSONValue, _ budget: PreviewBudget) -> Any {
        switch value.kind {
        case .bool(let flag): flag
        case .array(let elements): PreviewList(elements: elements, whole: PreviewValue(value: value, budget: budget))
        case .null, .number, .string, .object: PreviewValue(value: value, budget: budget)
        }
    }

    func child(named name: String) -> Any? {
        guard case .object(let members) = value.kind, budget.take(members.count) else { return nil }
        return members.first { $0.name == name }.map { Self.shown($0.value, budget) }
    }

    /// Whether a section of this value is skipped, and an inverted section is shown.
    var isNull: Bool {
        switch value.kind {
        case .null, .string(""): true
        default: false
        }
    }

    var renderText: String {
        switch value.kind {
        case .null: ""
        case .bool(let flag): flag ? "true" : "false"
        case .number(let text), .string(let text): budget.take(text.utf8.count) ? text : ""
        // Lists and objects are shown as written, because a template cannot say how to show them.
        case .array, .object: budget.take(value.source.count) ? String(decoding: value.source, as: UTF8.self) : ""
        }
    }

    /// The elements of a list, until the budget is too small for another pass.
    fileprivate func iterator(of elements: [JSONValue]) -> AnyIterator<Any> {
        var rest = elements[...]
        return AnyIterator {
            guard let element = rest.popFirst(), budget.takePass() else { return nil }
            return Self.shown(element, budget)
        }
    }
}

/// A list in a content. It has no members, so Mustache looks for names in the values around it.
private struct PreviewList: MustacheSequence, MustacheParent, MustacheCustomRenderable {
    let elements: [JSONValue]
    let whole: PreviewValue

    func makeIterator() -> AnyIterator<Any> { whole.iterator(of: elements) }

    func child(named name: String) -> Any? { nil }

    var isNull: Bool { false }
    var renderText: String { whole.renderText }
}
