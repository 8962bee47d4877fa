package import FoundationEssentials
package import GrandstandContract
package import JSON

/// What each app version can decode in the contents of one activity type, and which changes of a state make phones
/// ring.
package struct ContentType: Sendable {
    /// What happens to a content that a version cannot decode.
    package enum Check: String, Sendable, Hashable, CaseIterable {
        case warn
        case refuse
    }

    /// One version of the app that is still installed.
    package struct Version: Sendable {
        package let name: String
        /// The schema's JSON text as it was declared.
        package let schemaText: [UInt8]
        package let schema: ContentSchema
    }

    package let bundleID: BundleID
    /// The name of the app's Swift type of `ActivityAttributes`.
    package let attributesType: String
    package let check: Check
    package let versions: [Version]
    package let rules: StateRules
    /// The rules as they were declared; `nil`: none were.
    fileprivate let declaredRules: RawJSON?

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
        declaredRules = draft.rules
        check = try draft.check.map { word throws(Problem) in try Check(word) } ?? .warn
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
            let document = try draft.schema.tree()
            let schema = ContentSchema(document, pointer: "/versions/\(index)/schema", faults: &places)
            for place in places.listed { faults.add(place.pointer, place.detail) }
            if let schema { versions.append(Version(name: draft.name, schemaText: document.bytes, schema: schema)) }
        }
        return versions
    }
}

extension Contract.ContentTypeDraft {
    /// The declaration, with the defaults of what was left out.
    package init(_ type: ContentType) {
        self.init(
            check: .init(type.check),
            versions: type.versions.map {
                Contract.ContentVersion(name: $0.name, schema: RawJSON(unchecked: $0.schemaText))
            },
            rules: type.declaredRules)
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

/// A stored content type with its times and version.
package struct DeclaredContentType: Sendable {
    package var type: ContentType
    package var createdAt: Date
    package var updatedAt: Date
    /// Changes with every write.
    package var version: Int

    package init(type: ContentType, createdAt: Date, updatedAt: Date, version: Int) {
        self.type = type
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.version = version
    }
}

/// A live event whose newest content a content type would refuse.
package struct ContentMismatch: Sendable {
    package var eventKey: EventKey
    package var audience: Audience.ID
    package var broadcast: UUID
    package var errors: [FieldError]

    package init(eventKey: EventKey, audience: Audience.ID, broadcast: UUID, errors: [FieldError]) {
        self.eventKey = eventKey
        self.audience = audience
        self.broadcast = broadcast
        self.errors = errors
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
