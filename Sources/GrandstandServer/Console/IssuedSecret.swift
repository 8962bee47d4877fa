/// The page that shows a new secret, once only.
struct IssuedSecret: ConsolePage {
    var template: TemplateName { .secret }
    let title: String
    /// `nil`: the form was sent before, and `warnings` say so.
    let secret: String?
    let warnings: [String]
    let purpose: String
    let href: String
}
