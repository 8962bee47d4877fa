package import GrandstandContract
package import JSON

/// What each app version can decode in the contents of one activity type, and which changes of a state make phones ring:
/// a `Contract.ContentType` with compiled schemas and rules.
package struct ContentType: Sendable {
    /// One version of the app that is still installed.
    package struct Version: Sendable {
        package let name: String
        package let schema: ContentSchema
    }

    package let bundleID: BundleID
    /// The name of the app's Swift type of `ActivityAttributes`.
    package let attributesType: String
    /// The declaration, with the default of `check` if it was left out.
    package let declaration: Contract.ContentTypeDraft
    /// Whether a content that a version cannot decode is refused, and not only warned about.
    package let refuses: Bool
    package let versions: [Version]
    package let rules: StateRules

    /// Reads the body of `PUT /v1/apps/{bundleId}/contents/{attributesType}`.
    ///
    /// - Parameter isNew: whether rules that name members which no version has are refused. A stored declaration may be
    ///   older than this check.
    package init(
        _ bundleID: BundleID, _ attributesType: String, body: JSONValue, isNew: Bool = true
    ) throws(Problem) {
        self = try Contract.ContentTypeDraft.read(body) { draft, faults throws(Problem) in
            try ContentType(bundleID, attributesType, draft, isNew: isNew, &faults)
        }
    }

    private init(
        _ bundleID: BundleID, _ attributesType: String, _ draft: Contract.ContentTypeDraft, isNew: Bool,
        _ faults: inout RequestFaults
    ) throws(Problem) {
        self.bundleID = bundleID
        self.attributesType = attributesType
        var declaration = draft
        declaration.check = draft.check ?? .warn
        self.declaration = declaration
        refuses =
            switch draft.check {
            case .refuse: true
            case .warn, .unknown, nil: false
            }
        versions = try Self.versions(draft.versions, &faults)
        let isKnown = isNew && versions.count == draft.versions.count
        let members = ContentMembers(schemas: isKnown ? versions.map(\.schema) : [], areNew: isNew)
        rules = try draft.rules.map { rules throws(Problem) in try StateRules(rules, members, &faults) } ?? StateRules()
    }

    /// Parses the stored JSON text of a declaration.
    package init(_ bundleID: BundleID, _ attributesType: String, parsing text: [UInt8]) throws(Problem) {
        try self.init(bundleID, attributesType, body: try JSONValue(parsing: text), isNew: false)
    }

    private static func versions(
        _ drafts: [Contract.ContentVersion], _ faults: inout RequestFaults
    ) throws(Problem) -> [Version] {
        var versions: [Version] = []
        var names: Set<String> = []
        for (index, draft) in drafts.enumerated() {
            if !names.insert(draft.name).inserted {
                faults.add("/versions/\(index)/name", "The version \(JSONText.quoted(draft.name)) is listed twice.")
            }
            var places = FaultList()
            let schema = ContentSchema(
                try draft.schema.tree(), pointer: "/versions/\(index)/schema", faults: &places)
            for place in places.listed { faults.add(place.pointer, place.detail) }
            if let schema { versions.append(Version(name: draft.name, schema: schema)) }
        }
        return versions
    }
}

extension ContentType {
    /// The places of a content that some version cannot decode, each with the versions that cannot.
    ///
    /// - Parameters:
    ///   - contentState: JSON object text.
    ///   - pointer: the place of the content in the request.
    ///   - budget: the work that the check may take. The work that it took is subtracted.
    package func faults(
        of contentState: [UInt8], at pointer: String, spending budget: inout ContentSchema.Budget
    ) -> [FieldError] {
        guard let content = try? JSONValue(parsing: contentState) else { return [] }
        var places: [(fault: ContentSchema.Fault, versions: [String])] = []
        var indices: [ContentSchema.Fault: Int] = [:]
        for version in versions {
            for fault in version.schema.faults(of: content, spending: &budget) {
                if let place = indices[fault] {
                    if places[place].versions.last != version.name { places[place].versions.append(version.name) }
                } else {
                    indices[fault] = places.count
                    places.append((fault, [version.name]))
                }
            }
        }
        return places.map { fault, versions in
            let names = "\(bundleID) \(versions.joined(separator: ", "))"
            return FieldError(
                pointer: pointer + fault.pointer,
                detail: fault.isUnknown
                    ? "\(fault.wanted) It takes too long to find out whether \(names) can decode this one."
                    : "\(fault.wanted) \(names) cannot decode this.")
        }
    }

    /// The places of a content that some version cannot decode. The check may take the work that is allowed for one
    /// content.
    package func faults(of contentState: [UInt8], at pointer: String) -> [FieldError] {
        var budget = ContentSchema.Budget()
        return faults(of: contentState, at: pointer, spending: &budget)
    }
}

extension Problem {
    /// The refusal of contents that versions of an app cannot decode.
    package static func contentMismatch(_ errors: [FieldError]) -> Problem {
        Problem(
            .contentMismatch,
            "Phones cannot decode this content and would show nothing new. Correct the places named in errors.",
            errors: errors)
    }
}
