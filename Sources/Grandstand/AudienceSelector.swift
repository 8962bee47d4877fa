package import APNsWire
package import JSON

/// Some audiences of an event, as a request names them: all of an app and environment, or the one of a variant.
package struct AudienceSelector: Sendable, Hashable {
    package var bundleID: BundleID
    package var environment: APNsEnvironment
    /// `nil`: whatever theirs is.
    package var variant: Variant?
    /// Without a variant it names the audience that has none, and no other.
    package var isExact = false

    package init(bundleID: BundleID, environment: APNsEnvironment, variant: Variant? = nil) {
        self.bundleID = bundleID
        self.environment = environment
        self.variant = variant
    }

    /// Names one audience; those of its app and environment when it has no variant.
    package init(_ id: Audience.ID) {
        self.init(bundleID: id.bundleID, environment: id.environment, variant: id.variant)
    }

    /// Names one audience and no other.
    package static func only(_ id: Audience.ID) -> AudienceSelector {
        var selector = AudienceSelector(id)
        selector.isExact = true
        return selector
    }

    package func matches(_ id: Audience.ID) -> Bool {
        bundleID == id.bundleID && environment == id.environment
            && (variant == id.variant || variant == nil && !isExact)
    }

    /// The refusal of a selector that names none of the event's audiences.
    ///
    /// - Parameter ids: the event's.
    package func objection(among ids: some Sequence<Audience.ID>) -> String {
        let variants = ids.filter { $0.bundleID == bundleID && $0.environment == environment }.map(\.variant)
        guard let variant, !variants.isEmpty else {
            return "The event has no audience \(bundleID) in \(environment.rawValue)."
        }
        let known = variants.compactMap { $0?.rawValue }.sorted()
        return "The event has no variant \(variant) of \(bundleID) in \(environment.rawValue); it has "
            + (known.isEmpty ? "none there." : "\(known.joined(separator: ", ")).")
    }
}

extension AudienceSelector: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("bundleId", bundleID.rawValue)
        object.member("environment", environment.rawValue)
        if let variant { object.member("variant", variant.rawValue) }
    }

    /// Reads one off the fields of its object, leaving faults with them; `nil` when there are any.
    package static func read(_ fields: inout JSONFields) -> AudienceSelector? {
        let bundleID = fields.bundleID("bundleId")
        let environment = fields.choice("environment", APNsEnvironment.self, required: true)
        let variant = fields.variant()
        guard let bundleID, let environment else { return nil }
        return AudienceSelector(bundleID: bundleID, environment: environment, variant: variant)
    }
}

extension JSONFields {
    /// A required bundle ID.
    package mutating func bundleID(_ name: String) -> BundleID? {
        read(name, BundleID.rule, required: true, BundleID.init)
    }

    /// The variant of an audience; `nil`: none was given.
    package mutating func variant() -> Variant? { read("variant", Variant.rule, Variant.init) }
}
