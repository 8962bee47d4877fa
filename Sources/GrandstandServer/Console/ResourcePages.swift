internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import JSON

/// What a page of a `Resource` shows.
struct ShownPage: Sendable {
    /// `nil`: the page shows the list.
    var object: JSONValue?
    var version: String?
    let visit: Visit
}

/// The pages and forms of a noun. Each shows the answer of an operation of the API, or calls one.
extension Resource {
    var routes: [PageRoute] {
        // A page that asks comes before an object's page, because its path may have a word in the place of the object.
        var routes = actions.filter(\.hasPage).map { action in
            PageRoute(path + action.path, scope) {
                try await show(action.isOnOne ? detail : nil, [], asking: action, $0)
            }
        }
        if let list { routes.append(PageRoute(path, scope) { try await show(nil, [list($0)], $0) }) }
        if let detail, detail.title != nil {
            routes.append(PageRoute(path + detail.path, scope) { try await show(detail, detail.below, $0) })
        }
        return routes
            + actions.map { action in
                // The operation checks its own scopes, too.
                PageRoute(path + action.path, scope, form: action.isIrreversible ? .irreversible : .reversible) {
                    try await perform(action, $0)
                }
            }
    }

    /// - Parameters:
    ///   - detail: the object's page; `nil`: the list's.
    ///   - asking: the action, if it is the page that asks before an action.
    private func show(
        _ detail: Detail?, _ lists: [Listing], asking: Action? = nil, _ visit: Visit
    ) async throws -> PageRoute.Answer {
        var shown = ShownPage(visit: visit)
        if let detail { (shown.object, shown.version) = try await visit.call(detail.operation) }
        let object = shown.object
        var sections: [ResourcePage.Section] = []
        for list in lists {
            var page = object
            if let operation = list.operation {
                // Below an object, a list is left out if the key may not read it.
                if object != nil, !visit.mayCall(operation) { continue }
                page = try await visit.call(operation, query: visit.query(of: list, operation)).object
            }
            guard let page else { continue }
            sections.append(list.section(page, visit))
        }
        let isList = detail == nil && asking == nil
        let others = links.map { ($0, $1) } + (isList || list == nil ? [] : [(title(visit), path)])
        var page = ResourcePage(
            title: asking?.title ?? object.flatMap { detail?.title?($0, visit) } ?? title(visit),
            links: others.map { ($0.0, visit.fill($0.1)) }.filter { !$0.1.hasSuffix("/") },
            facts: object.flatMap { detail?.facts.facts($0, visit) } ?? [], sections: sections)
        if let asking {
            if let initial = asking.initial { shown.object = try await initial(visit) }
            page.offers = [offer(asking, shown, isAsking: true)]
            return .page(page)
        }
        page.offers = actions.filter { action in
            action.isOnOne == (object != nil) && visit.mayCall(action.operation) && action.isOffered(shown)
        }.map { offer($0, shown) }
        page.notes = object?.texts("notes") ?? []
        return .page(page)
    }

    /// - Parameter isAsking: whether this is the page that asks before the action.
    private func offer(_ action: Action, _ shown: ShownPage, isAsking: Bool = false) -> ResourcePage.Offer {
        let visit = shown.visit
        let href = visit.fill(path + action.path)
        var offer = ResourcePage.Offer(offerHeading: isAsking ? nil : action.label, offerWords: action.words)
        if action.hasPage, !isAsking {
            offer.ask = (action.label + "…", href)
            return offer
        }
        let guide = OperationGuide(action.operation)
        offer.inputs = pathFields(action).compactMap { FormInput($0, help: $0.text, nil) }
        if action.presets.isEmpty, let shape = guide.shape {
            offer.inputs += shape.inputs(of: guide.bodySchema, without: action.hidden) { name in
                if let object = shown.object { return object[name] }
                return visit.query[name].flatMap { .fromText($0) }
            }
        }
        let fixed = FormFields(action.presets)
        for parameter in guide.parameters where fixed[parameter.name] == nil {
            guard case .flag = parameter.shape else { continue }
            let choice = Choice("true", label: parameter.help, isChosen: false)
            offer.inputs.append(
                FormInput(
                    name: parameter.name, label: Wording.label(parameter.name), isSet: true, choices: [choice]))
        }
        if action.operation.method == "PUT", !offer.inputs.isEmpty { offer.version = shown.version }
        (offer.action, offer.button) = (href, action.label)
        offer.asksForKey = action.isIrreversible
        return offer
    }

    /// The parameters of the operation's path that are not in the form's own path. The form has fields for them.
    private func pathFields(_ action: Action) -> [OperationGuide.Parameter] {
        let path = (path + action.path).split(separator: "/")
        return OperationGuide(action.operation).parameters.filter {
            $0.place == "path" && !path.contains(":\($0.name)")
        }
    }

    /// Calls the action's operation with the body that the form expresses.
    private func perform(_ action: Action, _ visit: Visit) async throws -> PageRoute.Answer {
        let operation = action.operation
        let fields = FormFields(entries: visit.fields.entries + FormFields(action.presets).entries)
        var (parameters, headers) = (visit.parameters, HTTPFields())
        for name in pathFields(action).map(\.name) {
            parameters[name[...]] = PercentEncoding.encode(fields[name] ?? "")[...]
        }
        var present: (object: JSONValue, version: String?)?
        if operation.method == "PUT", action.isOnOne, let detail {
            present = try await visit.call(detail.operation)
        } else if operation.method == "PUT" {
            headers[.ifNoneMatch] = "*"
        }
        // A form that was made from a version is refused if the object has another one.
        headers[.ifMatch] = fields["etag"] ?? present?.version
        let body = action.shape.map { shape in
            shape.json(fields, without: action.hidden, keeping: present?.object, clears: action.isPatch) ?? "{}"
        }
        var query: [String: String] = [:]
        for name in operation.query { query[name] = fields[name] }
        let answer = try await visit.call(
            operation, parameters, query: query, body: body.map { Array($0.utf8) }, headers
        ).object
        var next = visit.fill(path)
        if let detail, operation.method != "DELETE" || list == nil {
            // Where a secret is new, the key that has it may be, too.
            let isMade = !action.isOnOne || action.secretUse != nil
            next = visit.fill(path + detail.path, isMade ? [detail.idName: answer.text(detail.idName)] : [:])
        }
        let notice = action.notice(answer, fields)
        guard let purpose = action.secretUse else { return .redirect(next, notice: notice) }
        return .page(
            ResourcePage(
                notice, secret: answer["secret"]?.string, for: purpose, warnings: answer.texts("warnings"), next: next))
    }
}

extension Visit {
    /// The query for a list, as this page's query says.
    fileprivate func query(of list: Listing, _ operation: Contract.Operation) -> [String: String] {
        var query = list.query(self)
        for parameter in OperationGuide(operation).parameters
        where parameter.place == "query" && query[parameter.name] == nil {
            query[parameter.name] = self.query[parameter.name].map { parameter.isTime ? FormTime.utc($0) : $0 }
        }
        return query
    }

    fileprivate func mayCall(_ operation: Contract.Operation) -> Bool {
        operation.scopes?.isEmpty == true || operation.scopes?.contains(where: key.holds) == true
    }

    /// A path of the console with these parameters, or else those of this page's path.
    func fill(_ path: String, _ values: [String: String] = [:]) -> String {
        Console.path
            + path.split(separator: "/").map { part in
                guard part.hasPrefix(":") else { return "/" + part }
                let name = String(part.dropFirst())
                return "/" + PercentEncoding.encode(values[name] ?? text(name))
            }.joined()
    }
}
