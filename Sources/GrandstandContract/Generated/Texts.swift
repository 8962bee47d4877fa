// Generated from openapi.yaml by `make contract`. Do not edit.

extension TextRule {
    /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
    /// capitals only.
    package static let bundleId = TextRule(
        0...155, pattern: #"^[A-Za-z0-9-]([A-Za-z0-9.-]*[A-Za-z0-9-])?$"#, excluding: ".push-type.",
        rule:
            "A bundle ID is 1 to 155 of A-Z a-z 0-9 . and -, exactly as registered at Apple, without a push-type suffix."
    )
    /// The ID of the team at Apple that the signing key belongs to.
    package static let teamId = TextRule(
        pattern: #"^[A-Za-z0-9]{10}$"#, rule: "Apple's 10 letters and digits were expected.")
    /// The ID of the key at Apple that signs. The server reads the file AuthKey_{keyId}.p8.
    package static let keyId = TextRule(
        pattern: #"^[A-Za-z0-9]{10}$"#, rule: "Apple's 10 letters and digits were expected.")
    /// The organiser's name for an event. It is unique on this server.
    package static let eventKey = TextRule(
        pattern: #"^[A-Za-z0-9._:-]{1,128}$"#, rule: "An event key is 1 to 128 of A-Z a-z 0-9 . _ : and -.")
    /// Tells the audiences of one app and environment apart, for example a language, or home and away. One of them may
    /// have none. Not together with delivery tokens.
    package static let variant = TextRule(
        pattern: #"^[A-Za-z0-9._:-]{1,32}$"#, rule: "A variant is 1 to 32 of A-Z a-z 0-9 . _ : and -.")
    /// Something that people follow, for example a team or a league. The organiser and the app agree on its name.
    package static let topic = TextRule(
        pattern: #"^[A-Za-z0-9._:-]{1,128}$"#, rule: "A topic is 1 to 128 of A-Z a-z 0-9 . _ : and -.")
    /// Apple's ID of a channel, unchanged. Apps pass it to ActivityKit, pushType .channel(…).
    package static let channelId = TextRule(
        pattern: #"^[!-~]{1,1024}$"#, rule: "Apple's ID was expected as it came: base64 text without spaces.")
    /// ActivityKit's ID of a Live Activity.
    package static let activityId = TextRule(
        pattern: #"^[A-Za-z0-9._:-]{1,128}$"#, rule: "An activity's ID is 1 to 128 of A-Z a-z 0-9 . _ : and -.")
    /// The name of a season, by which events are filtered.
    package static let seasonName = TextRule(
        pattern: #"^[A-Za-z0-9._:-]{1,64}$"#, rule: "A season's name is 1 to 64 of A-Z a-z 0-9 . _ : and -.")
    /// A BCP 47 tag of a language.
    package static let languageTag = TextRule(
        0...64, pattern: #"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"#, rule: "A BCP 47 tag such as de or pt-BR was expected."
    )
    /// An absolute URL without user name and fragment.
    package static let webhookUrl = TextRule(
        0...2_000, pattern: #"^[Hh][Tt][Tt][Pp][Ss]?://[!$-;=?A-Z\[\]_a-z~]+$"#,
        rule:
            "An absolute URL of at most 2000 characters such as https://example.com/hooks, without user name and fragment, was expected."
    )
    /// A Mustache template of a contentState's text.
    package static let previewTemplate = TextRule(
        1...2_000, pattern: #"^[^\x00-\x09\x0B-\x1F\x7F]*$"#,
        rule: "A Mustache template was expected: 1 to 2,000 characters, without control characters but line feeds.")
    /// The name of the app's Swift type of ActivityAttributes, at most 128 characters.
    package static let attributesType = TextRule(1...128, isPrintable: true)
    /// A push token in hexadecimal digits. The server never logs it.
    package static let deviceToken = TextRule(
        pattern: #"^([0-9A-Fa-f]{2}){1,512}$"#, rule: "A token is an even number of hexadecimal digits, 1,024 at most.")
    /// The version of iOS or iPadOS. The first two numbers count.
    package static let systemVersion = TextRule(
        pattern: #"^[0-9]{1,3}([.][0-9]{1,3}){0,3}$"#, rule: "A version such as 18 or 18.4.1 was expected.")
    /// A name for people, at most 200 characters in any language, without control characters.
    package static let name = TextRule(1...200, isPrintable: true)
    /// A word by which organisers filter events, for example football. At most 64 characters.
    package static let eventSort = TextRule(1...64, isPrintable: true)
    /// A member of contentState, as a JSON Pointer (RFC 6901). Array items are not named.
    package static let jSONPointer = TextRule(
        2...200, pattern: #"^/"#, rule: "A JSON Pointer to a member was expected, such as /home or /team/name.")
}
