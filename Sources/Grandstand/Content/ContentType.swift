package import GrandstandContract
package import JSON

/// What each app version can decode in the contents of one activity type, and which changes of a state make phones ring:
/// a `Contract.ContentType` with compiled schemas and rules.
package struct ContentType: Sendable {
    package let bundleID: BundleID
    /// The name of the app's Swift type of `ActivityAttributes`.
    package let attributesType: String
    /// The declaration, with the default of `check` if it was left out.
    package let declaration: Contract.ContentTypeDraft
    /// The versions of the app that are still installed.
    private let versions: [(name: String, schema: ContentSchema)]
    package let rules: Contract.StateRules

    /// Whether a content that a version cannot decode is refused, and not only warned about.
    package var refuses: Bool { declaration.check == .refuse }

    /// Reads the body of `PUT /v1/apps/{bundleId}/contents/{attributesType}`.
    package init(_ bundleID: BundleID, _ attributesType: String, body: JSONValue) throws(Problem) {
        (self.bundleID, self.attributesType) = (bundleID, attributesType)
        (declaration, versions, rules) = try Contract.ContentTypeDraft.read(body) { draft, faults throws(Problem) in
            var declaration = draft
            declaration.check = draft.check ?? .warn
            let versions = try Self.versions(draft.versions, &faults)
            let rules: Contract.StateRules = try draft.rules?.tree().decodeValid() ?? .init()
            // A version with a fault might have the members that the rules name.
            let isKnown = versions.count == draft.versions.count
            try rules.verify(isKnown ? versions.map(\.schema) : [], &faults)
            return (declaration, versions, rules)
        }
    }

    /// Parses the stored JSON text of a declaration.
    package init(_ bundleID: BundleID, _ attributesType: String, parsing text: [UInt8]) throws(Problem) {
        try self.init(bundleID, attributesType, body: try JSONValue(parsing: text))
    }

    private static func versions(
        _ drafts: [Contract.ContentVersion], _ faults: inout RequestFaults
    ) throws(Problem) -> [(name: String, schema: ContentSchema)] {
        var versions: [(name: String, schema: ContentSchema)] = []
        var names: Set<String> = []
        for (index, draft) in drafts.enumerated() {
            if !names.insert(draft.name).inserted {
                faults.add("/versions/\(index)/name", "The version \(draft.name.quotedJSON) is listed twice.")
            }
            var places = FaultList()
            let schema = ContentSchema(
                try draft.schema.tree(), pointer: "/versions/\(index)/schema", faults: &places)
            for place in places.listed { faults.add(place.pointer, place.detail) }
            if let schema { versions.append((draft.name, schema)) }
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
        of contentState: [UInt8], at pointer: String, spending budget: inout Int
    ) -> [FieldError] {
        guard let content = try? JSONValue(parsing: contentState) else { return [] }
        var (places, concerned) = ([ContentSchema.Fault](), [ContentSchema.Fault: [String]]())
        for version in versions {
            for fault in version.schema.faults(of: content, spending: &budget) {
                if concerned[fault] == nil { places.append(fault) }
                if concerned[fault]?.last != version.name { concerned[fault, default: []].append(version.name) }
            }
        }
        return places.map { fault in
            let names = "\(bundleID) \((concerned[fault] ?? []).joined(separator: ", "))"
            return FieldError(
                pointer: pointer + fault.pointer,
                detail: fault.isUndecided
                    ? "\(fault.wanted) It takes too long to find out whether \(names) can decode this one."
                    : "\(fault.wanted) \(names) cannot decode this.")
        }
    }

    /// The places of a content that some version cannot decode. The check may take the work that is allowed for one
    /// content.
    package func faults(of contentState: [UInt8], at pointer: String) -> [FieldError] {
        var budget = ContentSchema.mostWork
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
