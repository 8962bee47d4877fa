internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import JSON

/// The pages and forms of a `Resource`. Each shows the answer of an operation of the API, or calls one.
struct ResourcePages {
    /// The object that a page shows.
    struct Shown: Sendable {
        /// `nil`: the page shows the list.
        var object: JSONValue?
        var below: [JSONValue] = []
        var version: String?
        let visit: Visit
    }

    let resource: Resource

    var routes: [PageRoute] {
        // A page that asks comes before an object's page, because its path may have a word in the place of the object.
        var routes = resource.actions.filter(\.asks).map { action in
            PageRoute(resource.path + action.path, resource.scope) { try await ask(action, $0) }
        }
        if let list = resource.list {
            routes.append(PageRoute(resource.path, resource.scope) { try await show(list($0), $0) })
        }
        if let detail = resource.detail, detail.hasPage {
            routes.append(PageRoute(resource.path + detail.path, resource.scope) { try await show(detail, $0) })
        }
        return routes
            + resource.actions.map { action in
                // Of several scopes the operation needs one, and checks it itself.
                let scopes = action.operation.scopes ?? []
                return PageRoute(
                    resource.path + action.path, scopes.count == 1 ? scopes[0] : nil,
                    form: .init(isIrreversible: action.isIrreversible)
                ) { try await perform(action, $0) }
            }
    }
}

// MARK: Pages

extension ResourcePages {
    private func show(_ list: Listing, _ visit: Visit) async throws -> PageRoute.Answer {
        guard let page = try await visit.call(list) else { return .elsewhere(ConsolePath.overview) }
        return .page(
            ResourcePage(
                title: resource.title(visit), links: resource.links(visit),
                sections: [list.section(page, visit)], offers: offers(Shown(object: nil, visit: visit))))
    }

    private func show(_ detail: Detail, _ visit: Visit) async throws -> PageRoute.Answer {
        let answer = try await visit.call(detail.operation)
        let object = answer.object
        var sections: [ResourcePage.Section] = []
        var below: [JSONValue] = []
        for list in detail.below {
            // A list is left out if the key may not read it.
            if case .operation(let operation) = list.source, !visit.mayCall(operation) { continue }
            let page = try await visit.call(list) ?? object
            below += page.items("items")
            sections.append(list.section(page, visit))
        }
        let shown = Shown(object: object, below: below, version: answer.version, visit: visit)
        return .page(
            ResourcePage(
                title: detail.title(object, visit), refresh: detail.refresh, links: links(visit),
                notes: detail.notes(object), facts: detail.facts.facts(object, visit), sections: sections,
                offers: offers(shown), commands: try detail.commands(visit)))
    }

    /// Asks before an action.
    private func ask(_ action: Action, _ visit: Visit) async throws -> PageRoute.Answer {
        var shown = Shown(object: nil, visit: visit)
        var facts: [Fact] = []
        if action.isOnOne, let detail = resource.detail {
            let answer = try await visit.call(detail.operation)
            shown = Shown(object: answer.object, version: answer.version, visit: visit)
            facts = detail.facts.facts(answer.object, visit)
        } else if let initial = action.initial {
            shown.object = try await initial(visit)
        } else if let list = resource.list?(visit) {
            // Refuses an app that does not exist.
            _ = try await visit.call(list)
        }
        if let trial = action.trial {
            let call = PageCall(
                operation: action.operation, parameters: visit.parameters, body: Array(trial.body.utf8))
            facts += trial.facts.facts(try await visit.call(call).object, visit)
        }
        return .page(
            ResourcePage(
                title: action.label + (action.initial == nil ? "?" : ""), links: links(visit), facts: facts,
                offers: [offer(action, shown, isAsking: true)]))
    }

    /// The links of the list's page, and the link to this page.
    private func links(_ visit: Visit) -> [Piece.Link] {
        let list = Piece.Link(label: resource.title(visit), href: visit.fill(resource.path))
        return resource.links(visit) + (resource.list == nil ? [] : [list])
    }

    private func offers(_ shown: Shown) -> [ResourcePage.Offer] {
        resource.actions.filter { action in
            let isHere = shown.object == nil ? !action.isOnOne : action.isOnOne || action.isOnObjects
            return isHere && shown.visit.mayCall(action.operation) && action.isOffered(shown)
        }.map { offer($0, shown) }
    }

    /// - Parameter isAsking: whether this is the page that asks before the action.
    private func offer(_ action: Action, _ shown: Shown, isAsking: Bool = false) -> ResourcePage.Offer {
        let visit = shown.visit
        let href = visit.fill(resource.path + action.path)
        if action.asks, !isAsking {
            let ask = Piece.Link(label: action.label + "…", href: href)
            return ResourcePage.Offer(offerHeading: action.label, offerWords: action.words, ask: ask)
        }
        let guide = OperationGuide(action.operation)
        let named = names(action).compactMap { FormInput($0, help: $0.text, nil) }
        let groups = guide.shape.map { shape in
            shape.groups(of: guide.schema, without: action.hidden) { name in
                if let object = shown.object { return object[name] }
                let bound = name == "bundleIds" ? visit.key.reach.apps?.map(\.rawValue).joined(separator: ", ") : nil
                return (visit.query[name] ?? bound).flatMap { .text($0) }
            }
        }
        let flags = guide.parameters.filter { action.flags.contains($0.name) }.map { flag in
            let label = flag.help.prefix(1).uppercased() + flag.help.dropFirst()
            return FormInput(name: flag.name, label: label, isRequired: false, isFlag: true)
        }
        let all = [FormGroup(inputs: named)] + (action.fixed.isEmpty ? groups ?? [] : []) + [FormGroup(inputs: flags)]
        let isEmpty = all.allSatisfy(\.inputs.isEmpty)
        let isPlain = isEmpty && !action.isIrreversible
        return ResourcePage.Offer(
            offerHeading: isAsking || isPlain && action.words.isEmpty ? nil : action.label, offerWords: action.words,
            action: href, button: action.label,
            version: action.operation.method == "PUT" && !isEmpty ? shown.version : nil, groups: all,
            asksForKey: action.isIrreversible, isPlain: isPlain)
    }

    /// The parameters of the path that are not in the action's own path. The form has fields for them.
    private func names(_ action: Action) -> [OperationGuide.Parameter] {
        let path = (resource.path + action.path).split(separator: "/")
        return OperationGuide(action.operation).parameters.filter {
            $0.place == "path" && !path.contains(":\($0.name)")
        }
    }
}

// MARK: Actions

extension ResourcePages {
    /// Calls the action's operation with the body that the form expresses.
    private func perform(_ action: Action, _ visit: Visit) async throws -> PageRoute.Answer {
        let fields = visit.fields
        var call = PageCall(operation: action.operation, parameters: visit.parameters, query: action.query)
        // A form that was made from a version is refused if the object has another one.
        let version = fields["etag"] ?? fields["version"].map { "\"\($0)\"" }
        for name in names(action).map(\.name) {
            call.parameters[name[...]] = PercentEncoding.encode(fields[name] ?? "")[...]
        }
        for flag in action.flags where fields[flag] == "true" { call.query[flag] = "true" }
        var present: (object: JSONValue, version: String?)?
        if action.operation.method == "PUT", action.isOnOne, let detail = resource.detail {
            present = try await visit.call(detail.operation)
        } else if action.operation.method == "PUT" {
            call.headers[.ifNoneMatch] = "*"
        }
        call.headers[.ifMatch] = version ?? present?.version
        if let shape = action.shape {
            let json = shape.json(
                fields, without: action.hidden, keeping: present?.object, fixed: action.fixed,
                clears: !action.patch.isEmpty)
            call.body = Array((json ?? "{}").utf8)
        }
        let answer = try await visit.call(call).object
        if let secret = action.secret {
            return .page(
                ResourcePage(
                    secret.title(answer), secret: answer["secret"]?.string, for: secret.purpose,
                    warnings: answer.texts("warnings"), next: href(.made, answer, visit)))
        }
        return .elsewhere(href(action.next, answer, visit), notice: action.notice(answer, fields))
    }

    private func href(_ place: Action.Place, _ answer: JSONValue, _ visit: Visit) -> String {
        guard place != .list, let detail = resource.detail else { return visit.fill(resource.path) }
        let made = [detail.name: answer.text(detail.name)]
        return visit.fill(resource.path + detail.path, place == .made ? made : [:])
    }
}

extension Visit {
    /// Shows the object in this page's path.
    fileprivate func call(_ operation: Contract.Operation) async throws -> (object: JSONValue, version: String?) {
        try await call(PageCall(operation: operation, parameters: parameters))
    }

    /// Lists objects as this page's query says; `nil`: the list is a member of an object.
    fileprivate func call(_ list: Listing) async throws -> JSONValue? {
        guard case .operation(let operation) = list.source else { return nil }
        var call = PageCall(operation: operation, parameters: parameters, query: list.query(self))
        call.query["limit"] = String(list.limit)
        for parameter in OperationGuide(operation).parameters
        where parameter.place == "query" && call.query[parameter.name] == nil {
            call.query[parameter.name] = query[parameter.name].map { parameter.isTime ? FormTime.utc($0) : $0 }
        }
        return try await self.call(call).object
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
