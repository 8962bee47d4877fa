internal import APNsWire
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The fields of an app's form, empty or with the app's present values.
struct AppForm: Sendable {
    /// The credentials of one environment if they differ from the app's; otherwise the texts are empty.
    struct Override: Sendable {
        let environment: String
        let teamID: String
        let keyID: String
    }

    /// Mustache templates that show `contentState`.
    struct Preview: Sendable {
        let compact: String
        let expanded: String
    }

    let name: String
    let teamID: String
    let keyID: String
    let limit: String
    let overrides: [Override]
    /// The preview templates. There is one element for an existing app; if the app has no template, the texts of the
    /// element are empty. There is no element for a new app.
    let previews: [Preview]
    /// The tag of the app's present version; empty for a new app.
    let version: String

    /// - Parameter app: `nil`: a new app.
    init(_ versioned: Versioned<Contract.App>?) {
        let app = versioned?.value
        previews =
            app.map { [Preview(compact: $0.preview?.compact ?? "", expanded: $0.preview?.expanded ?? "")] } ?? []
        name = app?.name ?? ""
        teamID = app?.teamId ?? ""
        keyID = app?.keyId ?? ""
        limit = String(app?.channelLimit ?? APNsLimits.channels)
        overrides = APNsEnvironment.allCases.map { environment in
            let own = app?.environments[environment]
            return Override(environment: environment.rawValue, teamID: own?.teamId ?? "", keyID: own?.keyId ?? "")
        }
        version = versioned.map { "\"\($0.version)\"" } ?? ""
    }

    /// The body of `PUT /v1/apps/{bundleId}`.
    ///
    /// - Throws: `invalid-request`.
    static func draft(_ fields: FormFields) throws(Problem) -> Contract.AppDraft {
        let body = try JSONValue.body { object in
            object.member("name", fields["name"] ?? "")
            object.member("teamId", fields["teamId"] ?? "")
            object.member("keyId", fields["keyId"] ?? "")
            // Text that is not a number is passed on unchanged, and the API refuses it.
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
            // Forms send line breaks as CR LF.
            let compact = fields["preview.compact"]?.replacing("\r\n", with: "\n")
            let expanded = fields["preview.expanded"]?.replacing("\r\n", with: "\n")
            if compact != nil || expanded != nil {
                object.name("preview")
                object.object { preview in
                    if let compact { preview.member("compact", compact) }
                    if let expanded { preview.member("expanded", expanded) }
                }
            }
        }
        return try Contract.AppDraft(body: body)
    }
}
