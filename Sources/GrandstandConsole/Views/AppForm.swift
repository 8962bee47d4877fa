internal import APNsWire
internal import Grandstand
internal import JSON

/// What is said of an app: to be typed, or as it stands.
struct AppForm: Sendable {
    /// What differs in one environment.
    struct Override: Sendable {
        let environment: String
        let teamID: String
        let keyID: String
    }

    /// Mustache over `contentState`.
    struct Preview: Sendable {
        let compact: String
        let expanded: String
    }

    let name: String
    let teamID: String
    let keyID: String
    let limit: String
    let overrides: [Override]
    /// How contents look: one, or none where the API has no word for it.
    let previews: [Preview]
    /// Empty for a new one.
    let version: String

    /// - Parameters:
    ///   - app: `nil`: a new one.
    ///   - answer: the app as the API answers it.
    init(_ app: App?, answer: JSONValue? = nil) {
        previews =
            answer?["preview"].map { [Preview(compact: $0.text("compact"), expanded: $0.text("expanded"))] } ?? []
        name = app?.name ?? ""
        teamID = app?.credentials.teamID ?? ""
        keyID = app?.credentials.keyID ?? ""
        limit = String(app?.channelLimit ?? APNsLimits.channels)
        overrides = APNsEnvironment.allCases.map { environment in
            let own = app?.overrides[environment]
            return Override(environment: environment.rawValue, teamID: own?.teamID ?? "", keyID: own?.keyID ?? "")
        }
        version = app.map { "\"\($0.version)\"" } ?? ""
    }

    /// The body of `PUT /v1/apps/{bundleId}`.
    ///
    /// - Parameter present: the app as it is answered: what it has and no field speaks of is said again as it stands.
    static func body(_ fields: FormFields, present: JSONValue?) -> [UInt8] {
        var json = JSONWriter()
        json.object { object in
            object.member("name", fields["name"] ?? "")
            object.member("teamId", fields["teamId"] ?? "")
            object.member("keyId", fields["keyId"] ?? "")
            // What is no number goes as it is, for the API to refuse.
            if let limit = fields["channelLimit"] {
                if let number = Int(limit) {
                    object.member("channelLimit", number)
                } else {
                    object.member("channelLimit", limit)
                }
            }
            object.name("environments")
            object.object { environments in
                for environment in APNsEnvironment.allCases.map(\.rawValue) {
                    let (team, key) = (fields["\(environment).teamId"], fields["\(environment).keyId"])
                    guard team != nil || key != nil else { continue }
                    environments.name(dynamic: environment)
                    environments.object { own in
                        if let team { own.member("teamId", team) }
                        if let key { own.member("keyId", key) }
                    }
                }
            }
            if fields.entries.contains(where: { $0.name == "preview.compact" }) {
                // Forms send lines as CR LF.
                let (compact, expanded) = (
                    fields["preview.compact"]?.replacing("\r\n", with: "\n"),
                    fields["preview.expanded"]?.replacing("\r\n", with: "\n")
                )
                if compact != nil || expanded != nil {
                    object.name("preview")
                    object.object { preview in
                        if let compact { preview.member("compact", compact) }
                        if let expanded { preview.member("expanded", expanded) }
                    }
                }
            } else if let preview = present?["preview"], case .object = preview.kind {
                object.member("preview", raw: preview.bytes)
            }
        }
        return json.bytes
    }
}
